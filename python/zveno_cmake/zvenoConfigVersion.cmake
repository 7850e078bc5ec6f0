include("${CMAKE_CURRENT_LIST_DIR}/../zveno/lib/cmake/zveno/zvenoConfigVersion.cmake")
