# Defines what `cmake --install` installs: the program (component `program`), and the libraries with their headers,
# the CMake package emomc and emomc.pc (component `development`).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
if(EMOMC_FUZZ)
  return()
endif()

set(EMOMC_PARTS core likelihood sampler posterior speech emotion)
set(targets emomc_interface)
foreach(part ${EMOMC_PARTS})
  set_target_properties(emomc_${part} PROPERTIES EXPORT_NAME ${part})
  add_library(emomc::${part} ALIAS emomc_${part})
  list(APPEND targets emomc_${part})
  install(DIRECTORY lib${part}/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
endforeach()
set_target_properties(emomc_interface PROPERTIES EXPORT_NAME interface)
install(TARGETS ${targets} EXPORT emomc ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(EMOMC_PROGRAM)
  install(TARGETS emomc RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
endif()
if(TARGET emomc_manual)
  set(manual "${PROJECT_BINARY_DIR}/manual")
  install(FILES "${manual}/emomc.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT program)
  install(FILES "${manual}/emomc.bash" RENAME emomc COMPONENT program
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${manual}/_emomc" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT program)
  install(FILES "${manual}/emomc.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT program)
  install(FILES "${manual}/emomc.schema.json" DESTINATION "${CMAKE_INSTALL_DATADIR}/emomc" COMPONENT program)
endif()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/emomc")
install(EXPORT emomc NAMESPACE emomc:: FILE emomcTargets.cmake DESTINATION "${package}" COMPONENT development)
configure_package_config_file(cmake/emomcConfig.cmake.in "${PROJECT_BINARY_DIR}/emomcConfig.cmake"
  INSTALL_DESTINATION "${package}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/emomcConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/emomcConfig.cmake" "${PROJECT_BINARY_DIR}/emomcConfigVersion.cmake"
  DESTINATION "${package}" COMPONENT development)

# The libraries are static, so that a program must also link the libraries that they use.
set(EMOMC_PC_LIBS "-lfmt -lcrypto -ldl -pthread")
if(EMOMC_HAVE_HIGHWAY)
  string(PREPEND EMOMC_PC_LIBS "-lhwy ")
endif()
if(EMOMC_HAVE_CUDA)
  string(APPEND EMOMC_PC_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt")
endif()
set(EMOMC_PC_FLAGS "-std=c++20 -ffp-contract=off")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  string(APPEND EMOMC_PC_FLAGS " -mfma")
endif()
file(RELATIVE_PATH EMOMC_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" EMOMC_PC_PREFIX "${EMOMC_PC_PREFIX}")
configure_file(cmake/emomc.pc.in "${PROJECT_BINARY_DIR}/emomc.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/emomc.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
