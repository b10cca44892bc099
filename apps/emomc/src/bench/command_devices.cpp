#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "commands.hpp"
#include "emomc/core/execution.hpp"
#include "emomc/likelihood/engines.hpp"

namespace emomc::app {
namespace {

void print_devices(bool as_json) {
  const auto gpus = list_cuda_devices();
  const unsigned threads = std::thread::hardware_concurrency();
  if (as_json) {
    nlohmann::ordered_json json{
        {"cpu", {{"threads", threads}, {"simd", cpu_simd_name()}}},
        {"cuda", {{"built", built_with_cuda()}, {"devices", nlohmann::json::array()}}}};
    for (const auto& gpu : gpus)
      json["cuda"]["devices"].push_back({{"index", gpu.index},
                                         {"name", gpu.name},
                                         {"compute_capability", std::to_string(gpu.compute_major) + "." +
                                                                    std::to_string(gpu.compute_minor)},
                                         {"multiprocessors", gpu.num_multiprocessors},
                                         {"memory_bytes", gpu.memory_bytes}});
    std::cout << json.dump(1) << '\n';
    return;
  }
  std::cout << "cpu    " << threads << " threads, SIMD " << cpu_simd_name() << '\n';
  for (const auto& gpu : gpus)
    std::cout << "cuda   " << gpu.index << ": " << gpu.name << ", compute capability " << gpu.compute_major
              << '.' << gpu.compute_minor << ", " << gpu.num_multiprocessors << " multiprocessors, "
              << (gpu.memory_bytes >> 30) << " GiB\n";
  if (gpus.empty())
    std::cout << "cuda   none: "
              << (built_with_cuda() ? "CUDA finds no GPU on this machine"
                                    : "this emomc was built without CUDA")
              << '\n';
}

}  // namespace

void add_devices(CLI::App& app, int&) {
  auto* command = app.add_subcommand("devices", "List the devices on which emomc can run");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->footer("Example: emomc devices --json");
  command->callback([as_json] { print_devices(*as_json); });
}

}  // namespace emomc::app
