// Compares a mixture of Student's t distributions with Stan's posterior of the same rows
// (data/make_student_t.R).
#include "program.hpp"
#include "reference_posterior.hpp"

namespace emomc {
namespace {

// There are 8 parameters with 5 numbers each. With z = 5.6 a normal error exceeds the bound with probability
// 2.2e-8, so that a false alarm occurs for less than 1e-6 of all seeds.
TEST(StudentTMixture, AgreesWithStan) {
  testing::ProgramFolder folder;
  const std::string data = EMOMC_SOURCE_DIR "/tests/apps/data/student_t";
  folder.write("c.yaml", "data: {file: " + data + ".csv, standardize: false}\n" +
                             "likelihood: {model: student_t_mixture, components: 2, precision: double}\n"
                             "prior:\n"
                             "  means: {normal: {mean: 0, sd: 10}}\n"
                             "  scales: {half_normal: 2}\n"
                             "  degrees_of_freedom: {gamma: {shape: 2, rate: 0.1}}\n"
                             "  order: means.0\n"
                             "  scale_floor: 0\n"
                             "sampler: {chains: 8, warmup: 3000, draws: 6000, thin: 4, seed: 3}\n"
                             "output: {directory: run}\n");
  const auto result = folder.run("run c.yaml -q");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(testing::expect_reference_posterior(folder / "run", data + ".json", 5.6, testing::name_of_stans),
            40);
}

}  // namespace
}  // namespace emomc
