// Tests that a candidate that is computed in two parts has the same point and densities, bit for bit, as one
// that is computed at once.
#include "emomc/device/candidate_parts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mixture_target.hpp"

namespace emomc {
namespace {

constexpr int kLanes = device::kTeamLanes;

// A member of a GPU's team. The members work one after another; sums over lanes are taken when all have
// finished.
struct Member : device::HostTeam {
  int number;
  std::vector<device::TwoSums>& lanes_of_sum;
  Member(int which, std::vector<device::TwoSums>& lanes) : number(which), lanes_of_sum(lanes) {}
  static constexpr int size() { return kLanes; }
  int rank() const { return number; }
  device::TwoSums sum_of_lanes(device::TwoSums own) const {
    lanes_of_sum[static_cast<std::size_t>(number)] = own;
    return own;
  }
};

struct Point {
  std::vector<double> u, theta;
  device::PointTerms terms{};
  double log_jacobian = 0, log_prior = 0;
};

// All members compute both parts, starting from `known`.
void make_in_parts(const Target& target, const device::Neighbour& known, Point& point) {
  const device::ParameterTable& table = target.table();
  std::vector<device::TwoSums> lanes(kLanes);
  std::vector<device::SimplexSums> sums(static_cast<std::size_t>(table.num_simplices));
  for (int i = 0; i < kLanes; ++i)
    device::constrain_values(Member(i, lanes), table, point.u.data(), point.theta.data(), known, sums.data());
  for (int i = 0; i < kLanes; ++i)
    device::densities_of_values(Member(i, lanes), table, point.u.data(), point.theta.data(), known,
                                sums.data(), &point.terms);
  const device::TwoSums sum =
      device::HostTeam{}.sum_two(kLanes, [&](int i) { return lanes[static_cast<std::size_t>(i)]; });
  point.log_jacobian = sum.a + point.terms.simplices;
  point.log_prior = table.log_prior_constant + sum.b;
}

Point point_at(const Target& target, double phase) {
  Point point;
  for (int i = 0; i < target.dim_unconstrained(); ++i) point.u.push_back(std::sin(phase + 2.7 * i));
  point.theta.assign(static_cast<std::size_t>(target.dim()), -1);
  return point;
}

// Returns the first point of a chain: the point exists, but its terms do not.
Point first_point(const Target& target) {
  Point point = point_at(target, 1.0);
  target.constrain(point.u, point.theta);
  make_in_parts(target, {point.u.data(), point.theta.data(), nullptr, 0, target.dim()}, point);
  return point;
}

void expect_as_in_one(const Target& target, const Point& point, const char* what) {
  std::vector<double> theta(point.theta.size());
  const device::PointDensities expected = target.constrain_with_prior(point.u, theta);
  EXPECT_EQ(point.theta, theta) << what;
  EXPECT_EQ(point.log_jacobian, expected.log_jacobian) << what;
  EXPECT_EQ(point.log_prior, expected.log_prior) << what;
}

class CandidateParts : public ::testing::TestWithParam<const char*> {};

TEST_P(CandidateParts, AreTheWholeOfAPointThatIsAllNew) {
  for (int K : {1, 2, 5, 8}) {
    PriorSet prior = testing::mixture_prior();
    prior.order = GetParam();
    const Target target(testing::mixture_layout(K, 13), prior, std::vector<double>(16, 1.0));
    const Point from = first_point(target);
    Point point = point_at(target, 1.5);
    expect_as_in_one(target, from, "from itself");
    // Some elements are unchanged, so that their exponentials are copied.
    for (std::size_t i = 0; i < point.u.size(); i += 3) point.u[i] = from.u[i];
    make_in_parts(target, {from.u.data(), from.theta.data(), nullptr, 0, target.dim()}, point);
    expect_as_in_one(target, point, "from another point");
  }
}

TEST_P(CandidateParts, AreTheWholeOfANeighbour) {
  const int K = 8, d = 13;
  PriorSet prior = testing::mixture_prior();
  prior.order = GetParam();
  const Target target(testing::mixture_layout(K, d), prior, std::vector<double>(16, 1.0));
  Point from = first_point(target);
  const bool ordered_means = *GetParam() != 0;
  struct Block {
    int first, end;    // in theta
    int begin, count;  // in u
    const char* name;
  };
  // A change of one ordered mean changes all of them.
  const Block means = ordered_means ? Block{K, K + K * d, K - 1, K * d, "means"}
                                    : Block{K + 2 * d, K + 3 * d, K - 1 + 2 * d, d, "means[2]"};
  for (const Block& block : {Block{0, K, 0, K - 1, "weights"}, means,
                             Block{K + K * d + d, K + K * d + 2 * d, K - 1 + K * d + d, d, "scales[1]"}}) {
    Point to = from;
    for (int i = 0; i < block.count; ++i) to.u[static_cast<std::size_t>(block.begin + i)] += 0.1 + 0.01 * i;
    to.theta.assign(to.theta.size(), -1);
    make_in_parts(target, {from.u.data(), from.theta.data(), &from.terms, block.first, block.end}, to);
    expect_as_in_one(target, to, block.name);
    std::swap(from, to);  // the next change starts from this point and its terms
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, CandidateParts, ::testing::Values("", "means"),
                         [](const auto& order) { return *order.param ? std::string(order.param) : "none"; });

}  // namespace
}  // namespace emomc
