# cmake -DPROGRAM=... -DEXPECTED=... -P check_output.cmake: runs a program and compares what it prints.
# What is new in every run has a name there: times are <time>, and ids <id 1>, <id 2> and so on in the
# order in which they appear, so that it shows which ids are the same.
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}")
endif()

set(hex "[0-9a-f]")
set(four "${hex}${hex}${hex}${hex}")
set(uuid "${four}${four}-${four}-${four}-${four}-${four}${four}${four}")
string(REGEX MATCHALL "${uuid}" ids "${printed}")
list(REMOVE_DUPLICATES ids)
set(number 0)
foreach(id IN LISTS ids)
  math(EXPR number "${number} + 1")
  string(REPLACE "${id}" "<id ${number}>" printed "${printed}")
endforeach()
string(REGEX REPLACE "[0-9-]+T[0-9:.]+[+]00:00" "<time>" printed "${printed}")

file(READ "${EXPECTED}" expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} printed\n${printed}\ninstead of\n${expected}")
endif()
