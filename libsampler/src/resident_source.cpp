// The kernel of a plan: its C++ name, its headers and their text.
#include "resident_plan.hpp"

namespace emomc {
namespace {

const char* form_name(device::ResidentForm form) {
  switch (form) {
    case device::ResidentForm::ahead:
      return "ResidentForm::ahead";
    case device::ResidentForm::in_turn:
      return "ResidentForm::in_turn";
    case device::ResidentForm::teams:
      return "ResidentForm::teams";
    case device::ResidentForm::lines:
      return "ResidentForm::lines";
    case device::ResidentForm::wide:
      return "ResidentForm::wide";
  }
  return "";
}

}  // namespace

KernelSource resident_source(const ResidentPlan& plan, const DeviceLikelihood& likelihood,
                             const std::string& proposal, const device::ParameterTable& table) {
  const auto number = [](int n) { return std::to_string(n); };
  const std::string space = "emomc::device::";
  KernelSource source;
  source.headers = likelihood.code.headers;
  source.headers.push_back("emomc/device/resident_chain.cuh");
  source.sources = likelihood.code.sources;
  source.sources.push_back(&sampler_device_sources());
  source.kernel = space + "resident_kernel<" + space + "ResidentConfig<" + proposal + ", " +
                  likelihood.code.type + ", " + likelihood.real + ", " +
                  number(likelihood.sizes.num_columns) + ", " + number(plan.sizes.rows_per_lane) + ", " +
                  space + form_name(plan.sizes.form) + ", " + number(plan.evaluators) + ", " +
                  (plan.sizes.caches ? "true" : "false") + ", " + (plan.sizes.neighbours ? "true" : "false") +
                  ", " + number(plan.sizes.num_lines) + ", " + (plan.has_rows_outside() ? "true" : "false") +
                  ">>";
  if (table.num_covariance_rows + table.num_conditionals + table.num_angles == 0)
    source.defines = {"EMOMC_PLAIN_TABLE=1"};
  return source;
}

}  // namespace emomc
