#include "emomc/posterior/row_team.hpp"

#include <stdexcept>

namespace emomc {
namespace {

[[noreturn]] void refuse() {
  throw std::logic_error("RowTeam: work on one device, which the others would not do");
}

}  // namespace

RowTeam::RowTeam(Device& first, std::vector<std::unique_ptr<Device>> further, const Maker& make)
    : further_(std::move(further)), team_(1 + static_cast<int>(further_.size()), [&](Communicator& ranks) {
        const auto r = static_cast<std::size_t>(ranks.rank());
        return make(r == 0 ? first : *further_[r - 1], ranks);
      }) {}

void RowTeam::together(const std::function<void(LikelihoodEngine&, Communicator&)>& work) {
  team_.together(
      [&](const std::shared_ptr<LikelihoodEngine>& engine, Communicator& ranks) { work(*engine, ranks); });
}

void RowTeam::allocate(const std::vector<ChainPlan>& chains, ComponentCaches caches) {
  together([&](LikelihoodEngine& engine, Communicator&) { engine.allocate(chains, caches); });
}

void RowTeam::allocate_gradients() {
  together([](LikelihoodEngine& engine, Communicator&) { engine.allocate_gradients(); });
}

void RowTeam::sums_by_segment(const double* theta, int num_draws, double* out) {
  together([&](LikelihoodEngine& engine, Communicator& ranks) {
    std::vector<double> same(static_cast<std::size_t>(num_draws) * engine.num_segments());
    engine.sums_by_segment(theta, num_draws, ranks.rank() == 0 ? out : same.data());
  });
}

void RowTeam::evaluate_rows(const double* theta, double* out) {
  together([&](LikelihoodEngine& engine, Communicator& ranks) {
    std::vector<double> same(ranks.rank() == 0 ? 0 : engine.num_rows());
    engine.evaluate_rows(theta, ranks.rank() == 0 ? out : same.data());
  });
}

void RowTeam::evaluate(EnsembleView, ActiveSet) { refuse(); }
void RowTeam::evaluate_with_gradient(EnsembleView, GradientView, ActiveSet) { refuse(); }
void RowTeam::evaluate_component(EnsembleView, const int*, ActiveSet) { refuse(); }
void RowTeam::commit(const std::uint8_t*, ActiveSet) { refuse(); }
void RowTeam::rebuild_caches(EnsembleView, ActiveSet) { refuse(); }

}  // namespace emomc
