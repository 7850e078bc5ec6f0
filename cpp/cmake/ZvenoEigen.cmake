# Eigen, headers only. ZVENO_EIGEN_INCLUDE: the folder given, else the copy that an unpacked sdist carries, else the pinned
# requirement cmeel-eigen of the Python in use, else the system's.

set(ZVENO_EIGEN_DIR "" CACHE PATH "Folder of Eigen's headers (the one that holds Eigen/Core)")
set(zveno_vendored ${CMAKE_CURRENT_SOURCE_DIR}/cpp/vendor/eigen3)

if(NOT Python_EXECUTABLE)
  find_package(Python 3.11 QUIET COMPONENTS Interpreter)
endif()

# path of a file of an installed Python distribution, or an empty string
function(zveno_distribution_file result distribution name)
  set(path "")
  if(Python_EXECUTABLE)
    set(code "import importlib.metadata as m"
             "print(next(f.locate().as_posix() for f in m.files('${distribution}') if f.name == '${name}'))")
    list(JOIN code "; " code)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "${code}" OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

set(eigen_hints ${ZVENO_EIGEN_DIR})
# a copy left behind in a checkout may be older than the pinned requirement
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/PKG-INFO)
  list(APPEND eigen_hints ${zveno_vendored})
endif()
zveno_distribution_file(eigen_signature cmeel-eigen signature_of_eigen3_matrix_library)
if(eigen_signature)
  get_filename_component(eigen_folder ${eigen_signature} DIRECTORY)
  list(APPEND eigen_hints ${eigen_folder})
endif()
# build environments come and go: a remembered folder may be gone
if(NOT EXISTS "${ZVENO_EIGEN_INCLUDE}/Eigen/Core")
  unset(ZVENO_EIGEN_INCLUDE CACHE)
endif()
find_path(ZVENO_EIGEN_INCLUDE Eigen/Core HINTS ${eigen_hints} PATH_SUFFIXES eigen3)
if(NOT ZVENO_EIGEN_INCLUDE)
  message(FATAL_ERROR "Eigen's headers were not found: pip install cmeel-eigen, or set ZVENO_EIGEN_DIR")
endif()

# Eigen's licence texts, for everything that passes its headers on. The wheel of cmeel-eigen has none; Eigen is MPL-2.0, as is
# pathspec, and one file of its core is Apache-2.0, as is packaging. Both are at hand wherever scikit-build-core is. Files
# under BSD terms carry the text themselves.
function(zveno_eigen_licences result)
  if(EXISTS ${ZVENO_EIGEN_INCLUDE}/COPYING.MPL2)
    file(GLOB licences ${ZVENO_EIGEN_INCLUDE}/COPYING.*)
  else()
    set(licences "")
    foreach(source MPL2:pathspec:LICENSE APACHE:packaging:LICENSE.APACHE)
      string(REPLACE ":" ";" source ${source})
      list(GET source 0 suffix)
      list(GET source 1 distribution)
      list(GET source 2 name)
      zveno_distribution_file(path ${distribution} ${name})
      if(NOT path)
        message(FATAL_ERROR "The licence text ${name} of ${distribution} was not found: pip install ${distribution}")
      endif()
      configure_file(${path} ${CMAKE_CURRENT_BINARY_DIR}/eigen3/COPYING.${suffix} COPYONLY)
      list(APPEND licences ${CMAKE_CURRENT_BINARY_DIR}/eigen3/COPYING.${suffix})
    endforeach()
  endif()
  set(${result} ${licences} PARENT_SCOPE)
endfunction()

# the copy that goes into the sdist
function(zveno_vendor_eigen)
  zveno_eigen_licences(licences)
  file(REMOVE_RECURSE ${zveno_vendored})
  file(COPY ${ZVENO_EIGEN_INCLUDE}/Eigen ${ZVENO_EIGEN_INCLUDE}/signature_of_eigen3_matrix_library ${licences}
       DESTINATION ${zveno_vendored})
endfunction()
