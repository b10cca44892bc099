#include <nlohmann/json.hpp>

#include "classify_models.hpp"
#include "classify_rows.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/emotion/regression_model_file.hpp"

namespace emomc::app {

int predict_by_regression(const ClassifyOptions& options) {
  if (options.reject_below > 0)
    throw InputError("--reject-below: the model predicts numbers, of which none is rejected; see their sd");
  const RegressionModel model = read_regression_model(options.model);
  const Regressor& regressor = model.regressor;
  return classify_rows(
      options,
      {"linear regression", "shorter than 0.2 s", model.set, model.table, model.config, model.sample_rate,
       regressor.columns, regressor.corpus, [&](const GivenRecording& given, const StandardizedRow& row) {
         nlohmann::ordered_json line{{"file", given.file}};
         const std::vector<PredictiveT> predicted = predict_numbers(regressor, row.values, row.knowledge);
         for (std::size_t d = 0; d < predicted.size(); ++d) {
           const Interval interval = predicted[d].interval(kPredictiveLevel);
           line[regressor.dimensions[d].name] = {{"mean", predicted[d].mean},
                                                 {"sd", predicted[d].sd()},
                                                 {"interval_90", {interval.low, interval.high}}};
         }
         return line;
       }});
}

}  // namespace emomc::app
