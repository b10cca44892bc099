# Libraries that are not there are named together, with their packages of Debian and Ubuntu.
set(EMOMC_MISSING "")
set(EMOMC_MISSING_PACKAGES "")
macro(emomc_require name version package) # then COMPONENTS
  find_package(${name} ${version} QUIET ${ARGN})
  if(NOT ${name}_FOUND)
    string(APPEND EMOMC_MISSING "\n  ${name} ${version} or newer")
    list(APPEND EMOMC_MISSING_PACKAGES ${package})
  endif()
endmacro()

find_package(Threads REQUIRED)
emomc_require(Eigen3 3.4 libeigen3-dev NO_MODULE)
emomc_require(Boost 1.74 libboost-dev) # header-only: inverse error and beta functions
emomc_require(nlohmann_json 3.11 nlohmann-json3-dev)
emomc_require(OpenSSL 3.0 libssl-dev COMPONENTS Crypto) # SHA-256 of configuration and data
emomc_require(fmt 9 libfmt-dev)
if(EMOMC_PROGRAM)
  emomc_require(spdlog 1.10 libspdlog-dev)
  emomc_require(yaml-cpp 0.7 libyaml-cpp-dev)
  emomc_require(CLI11 2.1 libcli11-dev)
endif()
if(EMOMC_MISSING)
  list(JOIN EMOMC_MISSING_PACKAGES " " packages)
  message(FATAL_ERROR "emomc: these libraries are missing:${EMOMC_MISSING}\n"
    "On Debian 12 and Ubuntu 24.04: apt-get install ${packages}\n"
    "scripts/install-dependencies.sh installs all that emomc uses.")
endif()

find_package(hwy 1.0 QUIET)
set(EMOMC_HAVE_HIGHWAY ${hwy_FOUND})
if(NOT EMOMC_HAVE_HIGHWAY)
  message(STATUS "emomc: without Highway; the cpu engine runs without explicit SIMD")
endif()

find_path(EMOMC_NETCDF_INCLUDE netcdf.h)
find_library(EMOMC_NETCDF_LIBRARY netcdf)
if(EMOMC_NETCDF_INCLUDE AND EMOMC_NETCDF_LIBRARY)
  set(EMOMC_HAVE_NETCDF ON)
else()
  set(EMOMC_HAVE_NETCDF OFF)
  message(STATUS "emomc: without libnetcdf; draws are not written as netCDF")
endif()

find_path(EMOMC_SNDFILE_INCLUDE sndfile.h)
find_library(EMOMC_SNDFILE_LIBRARY sndfile)
if(EMOMC_SNDFILE_INCLUDE AND EMOMC_SNDFILE_LIBRARY)
  set(EMOMC_HAVE_SNDFILE ON)
else()
  set(EMOMC_HAVE_SNDFILE OFF)
  message(STATUS "emomc: without libsndfile; audio files cannot be read")
endif()

find_file(EMOMC_CHART_JS NAMES chart.min.js Chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/javascript)
if(NOT EMOMC_CHART_JS)
  message(STATUS "emomc: without libjs-chart.js; no HTML reports")
  set(EMOMC_CHART_JS "")
endif()

find_package(benchmark 1.6 QUIET)
if(EMOMC_BUILD_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
