// Tests the bits of log densities and draws, so that no bit changes unnoticed. Otherwise a run that another
// version resumes would mix two arithmetics.
#include "emomc/core/arithmetic.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "backend_problem.hpp"
#include "keeper.hpp"
#include "liblikelihood/random_shape.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

using testing::Keeper;

// Returns the FNV-1a hash of the numbers' bytes, as hexadecimal digits.
std::string hash_of(const std::vector<double>& values) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const double value : values) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  }
  std::ostringstream text;
  text << std::hex << hash;
  return text.str();
}

// Returns the hash for 3,000 rows with outliers, components without weight, and wide and narrow components,
// in several segments.
std::string hash_of_log_likelihoods(Backend backend, std::uint32_t index, Precision precision) {
  const testing::RandomShape shape = testing::random_shape(index);
  const auto device = make_device(backend);
  const auto engine = make_engine(backend, shape.model, precision, shape.data, *device);
  std::vector<double> sums(shape.data.segments.size());
  engine->sums_by_segment(shape.theta.data(), 1, sums.data());
  return hash_of(sums);
}

std::string hash_of_draws(Backend backend, const std::string& kind) {
  const testing::MixtureProblem mixture = testing::random_problem(3, 2, 40, 3);
  const Target target(testing::mixture_layout(3, 2), testing::mixture_prior(), std::vector<double>(2, 1.0));
  std::vector<ChainPlan> plans;
  std::vector<double> starts;
  for (std::uint64_t c = 0; c < 30; ++c) {
    plans.push_back({c, {0}, 1.0, 0});
    const auto start = testing::neighbour(mixture, 5, static_cast<std::uint32_t>(c));
    starts.insert(starts.end(), start.begin(), start.end());
  }
  RunOptions options;
  options.warmup = 200;
  options.draws = 20;
  options.seed = 11;
  ProposalSpec proposal;
  proposal.kind = kind;
  const auto device = make_device(backend);
  const auto engine = make_engine(backend, {"gaussian_mixture", 3}, Precision::mixed, mixture.data, *device);
  Keeper keeper;
  run_chains(*engine, target, proposal, plans, options, starts, keeper);
  return hash_of(keeper.theta);
}

void expect_the_bits_of_the_number(Backend backend, const std::string& file_name) {
  std::map<std::string, std::string> actual;
  for (std::uint32_t index = 4, models = 0; models < 5; index += 6, ++models) {  // shapes with 3,000 rows
    const std::string what = "log_likelihood " + std::to_string(index);
    actual[what + " mixed"] = hash_of_log_likelihoods(backend, index, Precision::mixed);
    actual[what + " double"] = hash_of_log_likelihoods(backend, index, Precision::float64);
  }
  for (const std::string& kind : testing::kinds_on(backend))
    actual["draws " + kind] = hash_of_draws(backend, kind);

  const std::string path = std::string(EMOMC_SOURCE_DIR) + "/tests/libsampler/data/" + file_name;
  std::ifstream file(path);
  std::map<std::string, std::string> expected;
  std::string first;
  std::getline(file, first);
  for (std::string line; std::getline(file, line);) {
    const auto space = line.rfind(' ');
    expected[line.substr(0, space)] = line.substr(space + 1);
  }
  EXPECT_EQ(first, "arithmetic " + std::to_string(kArithmetic));
  std::string text;
  for (const auto& [what, hash] : actual) text += what + " " + hash + "\n";
  EXPECT_EQ(actual, expected) << "Log densities or draws have other bits than those of arithmetic "
                              << kArithmetic << ". If they are meant to, raise kArithmetic and put into "
                              << path << ":\narithmetic " << kArithmetic + 1 << "\n"
                              << text;
}

TEST(Arithmetic, HasTheBitsOfItsNumber) {
  if (const std::string simd = cpu_simd_name(); simd.rfind("AVX", 0) != 0)
    GTEST_SKIP() << "the bits are those of processors with fma; here it is " << simd;
  expect_the_bits_of_the_number(Backend::cpu, "arithmetic.txt");
}

// On other GPUs the instructions for logarithms and exponentials may give other bits.
TEST(Arithmetic, HasTheBitsOfItsNumberOnCudaGpus) {
  const auto gpus = list_cuda_devices();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  if (gpus[0].compute_major != 9) GTEST_SKIP() << "the bits are those of GPUs of compute capability 9";
  expect_the_bits_of_the_number(Backend::cuda, "arithmetic_cuda.txt");
}

}  // namespace
}  // namespace emomc
