// What the report's page is made of; cmake/EmbedReport.cmake writes the definitions.
#pragma once

namespace emomc::app {

extern const char *const report_page, *const report_style, *const report_script, *const report_chart;

}  // namespace emomc::app
