#include "emomc/likelihood/parameter_file.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "emomc/core/data_units.hpp"
#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

const ModelSpec kModel{"gaussian_mixture", 2};

TEST(ParameterFile, ComesBackBitForBit) {
  const ParameterLayout layout = model_layout(kModel, 3);
  std::vector<double> theta{0.1 + 0.2, 0.7, 1.0 / 3, 2e-300, -5, 1e22, 7, 8, 1, 2, 3, 0.1, 5, 6};
  theta[1] = 1 - theta[0];
  EXPECT_EQ(parse_parameters(parameters_to_json(layout, theta), "file", layout), theta);
}

TEST(ParameterFile, RefusesByFileAndKey) {
  const ParameterLayout layout = model_layout(kModel, 1);
  const auto expect_refused = [&](const std::string& json, const std::string& word) {
    try {
      parse_parameters(json, "p.json", layout);
      ADD_FAILURE() << json;
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind("p.json", 0), 0u) << message;
      EXPECT_NE(message.find(word), std::string::npos) << message;
    }
  };
  const std::string rest = "\"means\": [[0], [1]], \"scales\": [[1], [1]]}";
  expect_refused("[]", "object");
  expect_refused("{\"weights\": [0.5, 0.5], \"weights\": [0.1, 0.9], " + rest,
                 "the key \"weights\" is there twice; remove one");
  expect_refused("{" + rest, "weights");
  expect_refused("{\"weights\": [0.5, 0.4], " + rest, "sum");
  expect_refused("{\"weights\": [1.5, -0.5], " + rest, "weights");
  expect_refused("{\"weights\": [0.5], " + rest, "weights");
  expect_refused("{\"weights\": [0.5, \"x\"], " + rest, "weights");
  expect_refused("{\"weights\": [0.5, 0.5], \"sd\": 1, " + rest, "sd");
  expect_refused("{\"weights\": [0.5, 0.5], \"means\": [[0], [1]], \"scales\": [[1], [0]]}", "scales");
  expect_refused("{\"weights\": [0.5, 0.5], \"means\": [[0], [1e999]], \"scales\": [[1], [1]]}", "p.json");
}

// x -> (x - mean) / sd transforms means and scales, too. The transformation and its inverse give the
// identity, and the log likelihood changes by the Jacobian.
TEST(DataUnits, GoThereAndBack) {
  const ParameterLayout layout = model_layout(kModel, 2);
  const ColumnUnits units{{10, -3}, {2, 0.5}};
  const std::vector<double> seen{0.25, 0.75, 0, 1, -1, 2, 1, 1, 0.5, 2};
  std::vector<double> own = seen;
  to_data_units(layout, units, own);
  EXPECT_EQ(own, (std::vector<double>{0.25, 0.75, 10, -2.5, 8, -2, 2, 0.5, 1, 1}));
  to_sampler_units(layout, units, own);
  EXPECT_EQ(own, seen);
  EXPECT_DOUBLE_EQ(log_likelihood_offset(units, 100), -100 * (std::log(2.0) + std::log(0.5)));
  EXPECT_EQ(log_likelihood_offset({}, 100), 0.0);
  const ParameterLayout signal = model_layout({"two_gaussian", 2}, 1);
  std::vector<double> peak{0.3, 1, 0.5, 2};
  to_data_units(signal, {{5}, {4}}, peak);
  EXPECT_EQ(peak, (std::vector<double>{0.3, 9, 2, 8}));
}

}  // namespace
}  // namespace emomc
