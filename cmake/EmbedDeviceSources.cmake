# Writes OUTPUT, a C++ source that contains the headers under emomc/device as strings, for compilation at run
# time. ROOTS is a comma-separated list of include directories; a header's name is its path relative to one of
# them.
include("${CMAKE_CURRENT_LIST_DIR}/EmbedText.cmake")
set(text "// Made from the headers under emomc/device by cmake/EmbedDeviceSources.cmake.\n#include \"device_sources.hpp\"\n\nnamespace emomc {\n\nconst std::vector<DeviceSource>& device_sources() {\n  static const std::vector<DeviceSource> sources{\n")
string(REPLACE "," ";" roots "${ROOTS}")
foreach(root ${roots})
  file(GLOB headers RELATIVE "${root}" "${root}/emomc/device/*")
  list(SORT headers)
  foreach(header ${headers})
    file(READ "${root}/${header}" source)
    string(APPEND text "      {\"${header}\", ")
    emomc_append_literal(text "${source}")
    string(APPEND text "},\n")
  endforeach()
endforeach()
string(APPEND text "  };\n  return sources;\n}\n\n}  // namespace emomc\n")
file(WRITE "${OUTPUT}" "${text}")
