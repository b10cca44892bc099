# Writes OUTPUT, a C++ source that contains the reports' pages, styles and scripts, the chart library and
# CITATION.cff as strings.
include("${CMAKE_CURRENT_LIST_DIR}/EmbedText.cmake")
set(parts report_frame frame.html report_page page.html report_style page.css report_common common.js report_script page.js
  evaluation_page evaluation.html evaluation_style evaluation.css evaluation_script evaluation.js
  regression_page regression.html regression_script regression.js)
set(names)
while(parts)
  list(POP_FRONT parts name file)
  file(READ "${SOURCE}/${file}" ${name})
  list(APPEND names ${name})
endwhile()
file(READ "${CHART}" report_chart)
file(READ "${CITATION}" report_citation)
set(text "// Made from apps/emomc/report and ${CHART} by cmake/EmbedReport.cmake.\n#include \"report_assets.hpp\"\n\nnamespace emomc::app {\n")
foreach(part ${names} report_chart report_citation)
  string(APPEND text "const char* const ${part} = ")
  emomc_append_literal(text "${${part}}")
  string(APPEND text ";\n")
endforeach()
string(APPEND text "}  // namespace emomc::app\n")
file(WRITE "${OUTPUT}" "${text}")
