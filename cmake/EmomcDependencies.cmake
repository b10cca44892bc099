find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(spdlog 1.10 REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto) # SHA-256 of config and data
find_path(EMOMC_FFTW_INCLUDE fftw3.h REQUIRED)
find_library(EMOMC_FFTW_LIBRARY fftw3 REQUIRED)
add_library(emomc_fftw INTERFACE)
target_include_directories(emomc_fftw SYSTEM INTERFACE "${EMOMC_FFTW_INCLUDE}")
target_link_libraries(emomc_fftw INTERFACE "${EMOMC_FFTW_LIBRARY}")

find_package(hwy 1.0 QUIET)
set(EMOMC_HAVE_HIGHWAY ${hwy_FOUND})
if(NOT EMOMC_HAVE_HIGHWAY)
  message(STATUS "emomc: without Highway; the cpu engine runs without explicit SIMD")
endif()

find_package(benchmark 1.6 QUIET)
if(EMOMC_BUILD_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
find_package(Boost 1.74 REQUIRED) # header-only: inverse error and beta functions
