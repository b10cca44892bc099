// The kernels of each mixture for any sizes, compiled ahead of time.
#include "../engine_factories.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/device/mixture_gradient.cuh"
#include "emomc/device/node_sums.cuh"
#include "emomc/device/prepare_kernel.cuh"
#include "emomc/device/tile_kernel.cuh"
#include "emomc/likelihood/models.hpp"
#include "row_kernels.hpp"

namespace emomc {
namespace {

using device::EvaluationView;
using device::KeptView;
using device::TileMemory;
using device::TileWork;

constexpr unsigned kThreads = 128;
dim3 one_thread_each(ActiveSet active) {
  return dim3((static_cast<unsigned>(active.count) + kThreads - 1) / kThreads);
}

/// Updates the states of kept sums after an evaluation; one thread for each active chain.
template <class State>
__global__ void commit_kernel(KeptView kept, const std::uint8_t* accepted, ActiveSet active) {
  device::begin_overlapped();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= active.count) return;
  const int chain = active.chains ? active.chains[i] : i;
  const int changed = kept.pending[chain];
  if (changed == device::kNothingPending) return;
  State& state = static_cast<State*>(kept.states)[chain];
  state = state.after(changed, accepted[chain] != 0);
  kept.pending[chain] = device::kNothingPending;
}

/// Marks all kept sums as stale; one thread for each active chain.
template <class L>
__global__ void forget_kernel(KeptView kept, ActiveSet active) {
  device::begin_overlapped();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= active.count) return;
  const int chain = active.chains ? active.chains[i] : i;
  static_cast<typename L::KeptState*>(kept.states)[chain] = L::nothing_kept();
  kept.pending[chain] = device::kNothingPending;
}

template <class L, class Real>
class CompiledKernels final : public RowKernels<Real> {
 public:
  explicit CompiledKernels(const L& likelihood) : likelihood_(likelihood) {}

  bool has_shared_tiles() const override { return true; }
  void prepare(const double* theta, int ld, ActiveSet active, Real* coefficients, double* common,
               double* scratch, Stream stream) const override {
    launch_kernel("launch of prepare_kernel", Overlap::yes, device::prepare_kernel<L, Real>,
                  dim3(static_cast<unsigned>(active.count)), dim3(device::kTeamLanes), 0, stream, likelihood_,
                  theta, ld, active, coefficients, common, scratch);
  }
  void evaluate(const TileLaunch& launch, const EvaluationView<Real>& view, const double* theta, int ld,
                Stream stream) const override {
    launch_kernel("launch of tile_kernel", Overlap::yes, kernel_of(launch),
                  dim3(launch.tiles * static_cast<unsigned>(launch.parts), launch.groups),
                  dim3(device::kTileThreads), launch.shared_bytes, stream, view, likelihood_, theta, ld);
  }

  void finish_shared(const device::NodeSumsView& view, std::size_t shared_bytes,
                     Stream stream) const override {
    launch_kernel("launch of finish_shared_kernel", Overlap::no, device::finish_shared_kernel<L>,
                  dim3(static_cast<unsigned>(view.active.count)), dim3(device::kNodeThreads), shared_bytes,
                  stream, view, likelihood_);
  }

  double log_likelihood(double sum, std::size_t num_rows, double common) const override {
    return num_rows == 0 ? 0 : likelihood_.log_likelihood(static_cast<double>(num_rows), common, sum);
  }
  double log_density(double of_row, double common) const override {
    return likelihood_.log_density(of_row, common);
  }

  std::size_t state_bytes() const override { return sizeof(typename L::KeptState); }
  void commit(const KeptView& kept, const std::uint8_t* accepted, ActiveSet active,
              Stream stream) const override {
    launch_kernel("launch of commit_kernel", Overlap::yes, commit_kernel<typename L::KeptState>,
                  one_thread_each(active), dim3(kThreads), 0, stream, kept, accepted, active);
  }
  void forget(const KeptView& kept, ActiveSet active, Stream stream) const override {
    launch_kernel("launch of forget_kernel", Overlap::yes, forget_kernel<L>, one_thread_each(active),
                  dim3(kThreads), 0, stream, kept, active);
  }

 private:
  using Kernel = void (*)(const EvaluationView<Real>, const L, const double*, int);
  static Kernel kernel_of(const TileLaunch& launch) {
    if (launch.memory == TileMemory::fused)
      return launch.parts == 1 ? device::tile_kernel<L, Real, TileWork::full, TileMemory::fused, 1>
             : launch.parts == 2
                 ? device::tile_kernel<L, Real, TileWork::full, TileMemory::fused, 2>
                 : device::tile_kernel<L, Real, TileWork::full, TileMemory::fused, device::kMaxParts>;
    return launch.work == TileWork::full ? of_work<TileWork::full>(launch.memory)
                                         : of_work<TileWork::component>(launch.memory);
  }
  template <TileWork kWork>
  static Kernel of_work(TileMemory memory) {
    return memory == TileMemory::staged ? device::tile_kernel<L, Real, kWork, TileMemory::staged, 1>
                                        : device::tile_kernel<L, Real, kWork, TileMemory::direct, 1>;
  }

  L likelihood_;
};

template <class Model, class Real>
std::unique_ptr<LikelihoodEngine> make(const Model& model, const DataSet& data, Device& device,
                                       Communicator* ranks) {
  using L = device::MixtureRows<Model>;
  const L likelihood{model};
  DeviceLikelihood known;
  known.code = mixture_device_code(model_type_name<Model>(), model.shape().num_components, model.shape().dim);
  known.real = sizeof(Real) == sizeof(float) ? "float" : "double";
  known.sizes = likelihood.sizes();
  known.leaves_registers = L::kLeavesRegisters;
  known.cost_of_row = known.sizes.num_coefficients;
  known.rows_per_thread = likelihood.rows_per_thread(sizeof(Real));
  return make_row_engine<Real>(
      layout_of(model), std::move(known), std::make_unique<CompiledKernels<L, Real>>(likelihood),
      {"emomc/device/mixture_gradient.cuh",
       device::mixture_gradient_sizes<Model>(model.shape().num_components, model.shape().dim)},
      data, device, ranks);
}

}  // namespace

template <class Model>
std::unique_ptr<LikelihoodEngine> make_mixture_cuda_engine(const Model& model, Precision precision,
                                                           const DataSet& data, Device& device,
                                                           Communicator* ranks) {
  return precision == Precision::mixed ? make<Model, float>(model, data, device, ranks)
                                       : make<Model, double>(model, data, device, ranks);
}

#define EMOMC_INSTANTIATE(Model, Shape)                                \
  template std::unique_ptr<LikelihoodEngine> make_mixture_cuda_engine( \
      const device::Model&, Precision, const DataSet&, Device&, Communicator*);
EMOMC_MODELS(EMOMC_INSTANTIATE)

}  // namespace emomc
