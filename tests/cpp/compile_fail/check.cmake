# For one SCALAR: the control compiles, every comparison is refused with a message that says the operator is deleted,
# and a number is no truth value. For double all of it compiles, so that nothing else is wrong with the file.
# Arguments: COMPILER (with its flags, a list), SYNTAX_ONLY, SCALAR, SOURCES (this folder).

set(ENV{LC_ALL} C)  # messages in English

function(compile file condition)
  execute_process(COMMAND ${COMPILER} ${SYNTAX_ONLY} -DSCALAR=${SCALAR} "-DCONDITION=${condition}" ${SOURCES}/${file}
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  set(code ${code} PARENT_SCOPE)
  set(text "${out}${err}" PARENT_SCOPE)
endfunction()

compile(branches_on_topology.cpp true)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the control does not compile for ${SCALAR}:\n${text}")
endif()

set(no_operator "deleted|C2280")
set(no_bool "no match for|convert|argument type")
foreach(case IN ITEMS "x < y|no_operator" "x > y|no_operator" "x <= y|no_operator" "x >= y|no_operator"
                      "x == y|no_operator" "x != y|no_operator" "x < 0.0|no_operator" "0.0 < x|no_operator"
                      "&std::max(x, y) == &y|no_operator" "x|no_bool" "!x|no_bool")
  string(REGEX MATCH "^(.*)[|](.*)$" _ "${case}")
  set(condition "${CMAKE_MATCH_1}")
  set(expected "${${CMAKE_MATCH_2}}")
  compile(branches_on_a_value.cpp "${condition}")
  if(SCALAR STREQUAL "double")
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "'${condition}' does not compile for double:\n${text}")
    endif()
  elseif(code EQUAL 0)
    message(FATAL_ERROR "a kernel that branches on '${condition}' compiles for ${SCALAR}")
  elseif(NOT text MATCHES "${expected}")
    message(FATAL_ERROR "'${condition}' for ${SCALAR}: the message does not match '${expected}':\n${text}")
  endif()
endforeach()
