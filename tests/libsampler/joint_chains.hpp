// Chains of a joint model, each with its own data, which are stepped by the parts of run_chains: ensemble,
// stepper, engine and segments. The adaptation is fixed.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>

#include "ensemble.hpp"
#include "joint_model.hpp"
#include "segment_runner.hpp"

namespace emomc::testing {

struct JointTest {
  JointModel joint;
  ProposalSpec proposal;

  std::string name() const {
    constexpr const char* shapes[] = {"isotropic", "diagonal", "dense"};
    return proposal.kind + "_" + shapes[static_cast<int>(proposal.shape)] + "_" + joint.name;
  }
  /// Returns the number of chains that form one replica, because they move by one another's state.
  int chains_per_replica() const {
    if (!proposal_use(proposal.kind).other_chains) return 1;
    return std::max(6, 2 * joint.target().dim_unconstrained());
  }
};

inline void PrintTo(const JointTest& test, std::ostream* out) { *out << test.name(); }

/// Whether blocks are moved in their order or in reverse. If the kernel of each block is reversible, the
/// reversed sweep is the reversed kernel. The two tries of delayed rejection are one kernel and keep their
/// order.
enum class Sweep { forth, back };

class JointChains {
 public:
  /// With caches, the memory grows with the square of the number of chains, since each chain has space for
  /// all rows.
  JointChains(const JointTest& test, Backend backend, int num_chains, std::uint64_t seed,
              Sweep sweep = Sweep::forth, ComponentCaches caches = ComponentCaches::off,
              std::uint32_t first_chain = 0)
      : joint_(test.joint),
        target_(test.joint.target()),
        backend_(backend),
        device_(make_device(backend)),
        kind_(test.proposal.kind),
        blocks_(plan_blocks(traits_of_kind(kind_), test.proposal.shape, target_)),
        stepper_(blocks_.traits.gradient() ? nullptr : make_stepper(kind_, *device_)),
        caches_(caches) {
    if (sweep == Sweep::back && !blocks_.traits.has_second_try())
      std::reverse(blocks_.blocks.begin(), blocks_.blocks.end());
    const int together = test.chains_per_replica();
    for (int c = 0; c < num_chains; ++c)
      plans_.push_back({first_chain + static_cast<std::uint64_t>(c), {c}, joint_.beta, c / together});
    ensemble_ = std::make_unique<Ensemble>(*device_, std::span(&target_, 1), blocks_, plans_, seed,
                                           RecordLayout{kMostKept});
    ensemble_->upload_adapted(adapted());
  }

  const Target& target() const { return target_; }

  /// Sets the chains to `thetas` with their data; pairs() then has the values as the chains store them, bit
  /// for bit.
  void begin(std::vector<double> thetas, DataSet data) {
    const auto dim = static_cast<std::size_t>(target_.dim()),
               dim_u = static_cast<std::size_t>(target_.dim_unconstrained());
    std::vector<double> u(plans_.size() * dim_u);
    for (std::size_t c = 0; c < plans_.size(); ++c) {
      target_.unconstrain({thetas.data() + c * dim, dim}, {u.data() + c * dim_u, dim_u});
      target_.constrain({u.data() + c * dim_u, dim_u}, {thetas.data() + c * dim, dim});
    }
    ensemble_->upload_points(u, {&target_, 1});
    pairs_.theta = std::move(thetas);
    exchange(std::move(data));
  }
  /// Replaces the chains' data and keeps their parameters.
  void exchange(DataSet data) {
    segments_.reset();
    trajectories_.reset();
    pairs_.data = std::move(data);
    engine_ = make_engine(backend_, joint_.model, Precision::mixed, pairs_.data, *device_, 1);
    engine_->allocate(plans_, caches_);
    const ActiveSet all{nullptr, ensemble_->num_chains()};
    if (blocks_.traits.gradient()) {
      trajectories_ = make_trajectories(kind_, *engine_, *ensemble_, RecordLayout{kMostKept});
      trajectories_->evaluate_current();
    } else {
      engine_->evaluate(ensemble_->current_view(), all);
    }
    if (caches_ == ComponentCaches::on) engine_->rebuild_caches(ensemble_->current_view(), all);
    pairs_.log_likelihood = ensemble_->download_scalars(ensemble_->view().current.log_likelihood);
    pairs_.log_prior = ensemble_->download_scalars(ensemble_->view().current.log_prior);
    segments_ = trajectories_ ? std::make_unique<SegmentRunner>(*engine_, *ensemble_, *trajectories_, blocks_,
                                                                RecordLayout{kMostKept})
                              : std::make_unique<SegmentRunner>(*engine_, *ensemble_, *stepper_, blocks_,
                                                                caches_, RecordLayout{kMostKept}, nullptr);
  }
  /// Returns the current state of the chains.
  const JointPairs& pairs() const { return pairs_; }

  /// The following run() makes the steps after `step`, or those before it in reverse order. This matters if a
  /// step's kernel depends on the step's number.
  void walk_from(std::int64_t step, Sweep direction) {
    step_ = step;
    direction_ = direction;
    ensemble_->upload_step(step);
  }

  /// Returns `count` points of each chain, with `every` steps between them.
  std::vector<JointPairs> run(std::int64_t count, std::int64_t every) {
    std::vector<JointPairs> kept;
    const auto drain = [&](const SegmentResult& segment) {
      const auto chains = static_cast<std::ptrdiff_t>(plans_.size()), dim = std::ptrdiff_t{target_.dim()};
      for (std::int64_t i = 0; i < segment.num_kept; ++i) {
        pairs_.theta.assign(segment.theta + i * chains * dim, segment.theta + (i + 1) * chains * dim);
        pairs_.log_prior.assign(segment.log_prior + i * chains, segment.log_prior + (i + 1) * chains);
        pairs_.log_likelihood.assign(segment.log_likelihood + i * chains,
                                     segment.log_likelihood + (i + 1) * chains);
        kept.push_back(pairs_);
      }
    };
    if (direction_ == Sweep::back) {
      for (std::int64_t i = 0; i < count * every; ++i) {
        ensemble_->upload_step(--step_);
        const bool keeps = (i + 1) % every == 0;
        segments_->run(step_, 1, step_, keeps ? 1 : 2, CopyPoints::theta, drain);
        segments_->finish(drain);
      }
      return kept;
    }
    for (std::int64_t done = 0; done < count; done += kMostKept) {
      const std::int64_t steps = std::min(kMostKept, count - done) * every;
      segments_->run(step_, steps, step_, every, CopyPoints::theta, drain);
      step_ += steps;
    }
    segments_->finish(drain);
    return kept;
  }

  /// Returns the acceptance rate of each block, over all chains.
  std::vector<double> acceptance() const {
    const auto accepted = ensemble_->accepted(), proposed = ensemble_->proposed();
    const std::size_t n = blocks_.blocks.size();
    std::vector<double> rates;
    for (std::size_t b = 0; b < n; ++b) {
      double yes = 0, all = 0;
      for (std::size_t i = b; i < accepted.size(); i += n) {
        yes += static_cast<double>(accepted[i]);
        all += static_cast<double>(proposed[i]);
      }
      rates.push_back(yes / all);
    }
    return rates;
  }

 private:
  static constexpr std::int64_t kMostKept = 16;

  /// Returns increments with the shape of the prior, slightly shorter than the best ones; the independence
  /// proposal has the mean and the covariance of the prior. The numbers are computed from draws that no test
  /// uses, so that they are fixed.
  std::vector<double> adapted() const {
    constexpr int kDraws = 2000;
    constexpr std::uint64_t kSeed = 424242;
    // A leapfrog must suit the narrowest posterior of all data, which a trajectory crosses many times.
    const double shorter = blocks_.traits.gradient() ? 0.2 : 0.6;
    const int n = target_.dim_unconstrained();
    const auto dim = static_cast<std::size_t>(target_.dim());
    const auto thetas = draw_parameters(target_, kDraws, kSeed);
    Eigen::MatrixXd points(n, kDraws);
    for (int i = 0; i < kDraws; ++i)
      target_.unconstrain({thetas.data() + static_cast<std::size_t>(i) * dim, dim},
                          {points.data() + static_cast<std::ptrdiff_t>(i) * n, static_cast<std::size_t>(n)});
    const Eigen::VectorXd mean = points.rowwise().mean();
    points.colwise() -= mean;
    const Eigen::MatrixXd covariance = points * points.transpose() / kDraws;

    const device::AdaptedLayout layout = blocks_.adapted_layout(n);
    std::vector<double> one(static_cast<std::size_t>(layout.size()), 0.0), all;
    for (int b = 0; b < layout.num_blocks; ++b) {
      const auto& block = blocks_.blocks[static_cast<std::size_t>(b)];
      one[static_cast<std::size_t>(layout.scale(b))] =
          std::log(shorter * 2.38) - 0.5 * std::log(static_cast<double>(block.size));
      if (layout.num_dense > 0)
        Eigen::Map<Eigen::MatrixXd>(one.data() + layout.dense(block.dense_offset), block.size, block.size) =
            covariance.block(block.begin, block.begin, block.size, block.size).llt().matrixL();
    }
    for (int i = 0; i < n; ++i) one[static_cast<std::size_t>(layout.sd(i))] = std::sqrt(covariance(i, i));
    if (layout.num_fitted > 0) {
      double* fitted = one.data() + layout.fitted();
      const Eigen::MatrixXd factor = covariance.llt().matrixL();
      Eigen::Map<Eigen::MatrixXd>(fitted, n, n) = factor.inverse();
      Eigen::Map<Eigen::VectorXd>(fitted + n * n, n) = mean;
      fitted[n * n + n] = 1;
    }
    for (int g = 0; g <= plans_.back().group; ++g) all.insert(all.end(), one.begin(), one.end());
    return all;
  }

  JointModel joint_;
  Target target_;
  Backend backend_;
  std::unique_ptr<Device> device_;
  std::string kind_;
  ProposalBlocks blocks_;
  std::unique_ptr<Stepper> stepper_;  ///< null for gradient samplers
  ComponentCaches caches_;
  std::vector<ChainPlan> plans_;
  std::unique_ptr<Ensemble> ensemble_;
  std::unique_ptr<LikelihoodEngine> engine_;
  std::unique_ptr<Trajectories> trajectories_;  ///< null unless the proposal is a gradient sampler
  std::unique_ptr<SegmentRunner> segments_;
  std::int64_t step_ = 0;
  Sweep direction_ = Sweep::forth;  ///< direction of the steps
  JointPairs pairs_;
};

}  // namespace emomc::testing
