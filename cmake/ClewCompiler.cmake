# How Clew's own targets are compiled: language level, warnings, sanitizers, ccache.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()

  find_program(CLEW_CCACHE ccache)
  if(CLEW_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # The sloppiness lets ccache serve sources that use a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
        "CCACHE_SLOPPINESS=pch_defines,time_macros" "${CLEW_CCACHE}")
  endif()
endif()

if(CLEW_SANITIZE STREQUAL "address")
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(CLEW_SANITIZE STREQUAL "thread")
  set(sanitize -fsanitize=thread)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes the member of a std::optional that was asked before for one that nobody set.
    list(APPEND sanitize -Wno-maybe-uninitialized)
  endif()
elseif(CLEW_SANITIZE STREQUAL "fuzzer")
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "CLEW_SANITIZE=fuzzer needs clang (use the 'fuzz' preset)")
  endif()
  set(sanitize -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
elseif(NOT CLEW_SANITIZE STREQUAL "")
  message(FATAL_ERROR "CLEW_SANITIZE is '${CLEW_SANITIZE}'; use address, thread, fuzzer or nothing")
endif()
if(CLEW_SANITIZE)
  # Every object must agree on the instrumentation, so it is set for the whole build.
  add_compile_options(${sanitize} -fno-omit-frame-pointer)
  add_link_options(${sanitize})
endif()

# Gives one of Clew's own targets the warnings the project keeps clean.
function(clew_set_warnings target)
  # Clang blames its users for what stable_sort() of libstdc++ 12 calls; g++ still finds our own mistakes.
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
    $<$<BOOL:${CLEW_WERROR}>:-Werror>)
endfunction()
