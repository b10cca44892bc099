#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

#include "emomc/core/errors.hpp"
#include "emomc/core/execution.hpp"

namespace emomc {
namespace {

struct HostGraph final : Graph {
  std::function<void()> work;
};
struct HostEvent final : Event {};

constexpr std::size_t kAlignment = 64;

// Returns the kernel's estimate of the memory available without swapping; SIZE_MAX if there is no estimate.
std::size_t available_host_bytes() {
  std::ifstream stream("/proc/meminfo");
  for (std::string key, unit; stream >> key;) {
    std::size_t kibibytes = 0;
    if (!(stream >> kibibytes)) break;
    if (key == "MemAvailable:") return kibibytes << 10;
    std::getline(stream, unit);
  }
  return SIZE_MAX;
}

class HostDevice final : public Device {
 public:
  DeviceKind kind() const override { return DeviceKind::host; }
  std::string description() const override { return "host"; }
  Stream stream() const override { return nullptr; }
  std::size_t free_bytes() const override { return available_host_bytes(); }

  void* allocate(std::size_t bytes) override {
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = std::aligned_alloc(kAlignment, rounded);
    if (!memory) throw MachineError("out of memory: " + std::to_string(bytes) + " bytes were asked for");
    return std::memset(memory, 0, rounded);
  }
  void release(void* memory) noexcept override { std::free(memory); }
  void* allocate_host(std::size_t bytes) override { return allocate(bytes); }
  void release_host(void* memory) noexcept override { std::free(memory); }

  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override {
    auto graph = std::make_unique<HostGraph>();
    graph->work = enqueue;
    return graph;
  }
  void launch(Graph& graph) override { static_cast<HostGraph&>(graph).work(); }

  std::unique_ptr<Event> make_event() override { return std::make_unique<HostEvent>(); }
  void record(Event&) override {}
  void wait(Event&) override {}
  void synchronize() override {}
};

}  // namespace

std::unique_ptr<Device> make_host_device() { return std::make_unique<HostDevice>(); }

}  // namespace emomc
