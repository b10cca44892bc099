// The parts of the reports' pages; cmake/EmbedReport.cmake generates the definitions.
#pragma once

namespace emomc::app {

extern const char* const report_frame;  ///< HTML of all pages, with marks for what differs
extern const char *const report_page, *const report_style, *const report_script, *const report_chart;
extern const char* const report_common;    ///< script that all pages share; it precedes their own scripts
extern const char* const report_citation;  ///< text of CITATION.cff
extern const char *const evaluation_page, *const evaluation_style, *const evaluation_script;
extern const char *const regression_page, *const regression_script;

}  // namespace emomc::app
