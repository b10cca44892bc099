# emomc_embed_device_sources(target library): compiles the headers under the current library's
# include/emomc/device into `target` as strings, for compilation at run time. The function
# emomc::<library>_device_sources() returns them (core/runtime_kernel.hpp).
# As a script (cmake -P): writes OUTPUT, the source of that function, from the headers under ROOT.
include("${CMAKE_CURRENT_LIST_DIR}/EmbedText.cmake")

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(text "// Made from the headers under emomc/device by cmake/EmbedDeviceSources.cmake.\n#include \"emomc/core/runtime_kernel.hpp\"\n\nnamespace emomc {\n\nconst DeviceSources& ${LIBRARY}_device_sources();\nconst DeviceSources& ${LIBRARY}_device_sources() {\n  static const DeviceSources sources{\n")
  file(GLOB headers RELATIVE "${ROOT}" "${ROOT}/emomc/device/*")
  list(SORT headers)
  foreach(header ${headers})
    file(READ "${ROOT}/${header}" source)
    string(APPEND text "      {\"${header}\", ")
    emomc_append_literal(text "${source}")
    string(APPEND text "},\n")
  endforeach()
  string(APPEND text "  };\n  return sources;\n}\n\n}  // namespace emomc\n")
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

set(EMOMC_EMBED_DEVICE_SOURCES "${CMAKE_CURRENT_LIST_FILE}")
set(EMOMC_EMBED_TEXT "${CMAKE_CURRENT_LIST_DIR}/EmbedText.cmake")
function(emomc_embed_device_sources target library)
  set(root "${CMAKE_CURRENT_SOURCE_DIR}/include")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/device_sources.cpp")
  file(GLOB headers CONFIGURE_DEPENDS "${root}/emomc/device/*")
  # A header that was removed is no longer a dependency, but the list of the existing headers is.
  set(list "${CMAKE_CURRENT_BINARY_DIR}/device_headers.txt")
  file(CONFIGURE OUTPUT "${list}" CONTENT "${headers}")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DROOT=${root}" "-DLIBRARY=${library}"
      -P "${EMOMC_EMBED_DEVICE_SOURCES}"
    DEPENDS ${headers} "${list}" "${EMOMC_EMBED_DEVICE_SOURCES}" "${EMOMC_EMBED_TEXT}" VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
