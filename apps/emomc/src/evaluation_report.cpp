#include "evaluation_report.hpp"
namespace emomc::app {
bool has_evaluation_report() { return false; }
std::string evaluation_report_html(const std::filesystem::path&) { return ""; }
}  // namespace emomc::app
