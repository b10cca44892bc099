option(EMOMC_BUILD_TESTS "Build the tests" ON)
option(EMOMC_PROGRAM "Build the program; tests and benchmarks need it" ON)
option(EMOMC_WARNINGS_AS_ERRORS "Fail the build on a warning" OFF)
set(EMOMC_CUDA "auto" CACHE STRING "Build the CUDA engine: auto, on or off")
set_property(CACHE EMOMC_CUDA PROPERTY STRINGS auto on off)
set(EMOMC_MPI "auto" CACHE STRING "Build the program for several processes with MPI: auto, on or off")
set_property(CACHE EMOMC_MPI PROPERTY STRINGS auto on off)
set(EMOMC_NCCL "auto" CACHE STRING "Build for several GPUs of a host with NCCL, which is loaded when it is needed: auto, on or off")
set_property(CACHE EMOMC_NCCL PROPERTY STRINGS auto on off)
set(EMOMC_PYTHON "auto" CACHE STRING "Build the Python module: auto, on or off")
set_property(CACHE EMOMC_PYTHON PROPERTY STRINGS auto on off)
foreach(option EMOMC_CUDA EMOMC_MPI EMOMC_NCCL EMOMC_PYTHON)
  string(TOLOWER "${${option}}" ${option})  # CMake's own switches are written as ON and OFF
  if(NOT ${option} MATCHES "^(auto|on|off)$")
    message(FATAL_ERROR "${option}=${${option}}: allowed are auto, on and off")
  endif()
endforeach()
set(EMOMC_GLUE_FLAGS "" CACHE STRING
  "Flags, after all others, of what computes little: the program's own sources and most tests, e.g. -O0 for a quick build")
set(EMOMC_SANITIZE "" CACHE STRING "Sanitizers of the host code, e.g. address,undefined")
option(EMOMC_FUZZ "Build tests/fuzz for libFuzzer; needs clang" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

option(EMOMC_PRECOMPILE_HEADERS "Precompile the large headers of others, which most of the build's time went into" ON)

find_program(EMOMC_CCACHE ccache)
if(EMOMC_CCACHE)
  # Without this sloppiness ccache does not cache sources that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${EMOMC_CCACHE}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${EMOMC_CCACHE}")
endif()

# Precompiles `headers`, large ones that do not change with the project's sources, for the C++ sources of
# `target`. The sources still include what they use, so that they also compile without it. Meant for targets
# with -O1: at -O3 g++ 12 warns about the standard library's strings (GCC PR 105651), since a precompiled
# header no longer counts as a system header.
function(emomc_precompile target)
  if(NOT EMOMC_PRECOMPILE_HEADERS)
    return()
  endif()
  set(headers)
  foreach(header ${ARGN})
    list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
  target_precompile_headers(${target} PRIVATE ${headers})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endfunction()
set(EMOMC_STANDARD_HEADERS algorithm array chrono cmath cstdint filesystem functional limits map memory optional span
  string string_view utility vector)

# The flags target is linked by all targets of the project. CMake 3.25 cannot request C++20 from nvcc, so that this
# flag is written out. Contraction is off: a fused multiply-add is written explicitly where it is wanted, so that host
# and device compute bitwise equal results.
add_library(emomc_flags INTERFACE)
target_compile_features(emomc_flags INTERFACE cxx_std_20)
target_compile_options(emomc_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                            -ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -fmad=false -lineinfo --expt-relaxed-constexpr
                             -Xcompiler=-Wall,-Wextra,-ffp-contract=off>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Without this flag each std::fma is a library call. The program checks the processor when it starts.
  target_compile_options(emomc_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-mfma> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-mfma>)
endif()
# Programs that use the installed libraries compile with this target. It has those of the flags above on which the
# bits of results depend, for headers of densities.
add_library(emomc_interface INTERFACE)
target_compile_features(emomc_interface INTERFACE cxx_std_20)
target_compile_options(emomc_interface INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -fmad=false --expt-relaxed-constexpr -Xcompiler=-ffp-contract=off>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(emomc_interface INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-mfma> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-mfma>)
endif()
# g++ 12 reports overlapping copies in std::string operators that are impossible (GCC PR 105651).
target_compile_options(emomc_flags INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>)
# Embedded texts are longer than the 64 KiB that the standard requires compilers to support.
target_compile_options(emomc_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-overlength-strings>)
if(EMOMC_WARNINGS_AS_ERRORS)
  target_compile_options(emomc_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<NOT:$<BOOL:$<TARGET_PROPERTY:EMOMC_LOCAL_MEMORY>>>>:
    -Xptxas=--warn-on-spills,--warn-on-local-memory-usage,--warning-as-error>)
endif()
if(EMOMC_SANITIZE)
  target_compile_definitions(emomc_flags INTERFACE EMOMC_SANITIZED)
  # With sanitizers GCC 12 reports members of std::regex as possibly uninitialised.
  target_compile_options(emomc_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  if(EMOMC_SANITIZE STREQUAL "thread")
    # The state that threads share does not depend on the width of a vector, and compiling for all targets takes a
    # quarter of an hour.
    target_compile_definitions(emomc_flags INTERFACE HWY_COMPILE_ONLY_STATIC)
  endif()
  target_compile_options(emomc_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${EMOMC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(emomc_flags INTERFACE -fsanitize=${EMOMC_SANITIZE})
endif()
if(EMOMC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "EMOMC_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++-16 (scripts/fuzz.sh does it)")
  endif()
  target_compile_options(emomc_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()
