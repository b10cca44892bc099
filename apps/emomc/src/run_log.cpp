#include "run_log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace emomc::app {

std::shared_ptr<spdlog::logger> make_logger(const std::filesystem::path& directory, Verbosity verbosity) {
  auto to_file = std::make_shared<spdlog::sinks::basic_file_sink_st>((directory / "run.log").string());
  auto to_terminal = std::make_shared<spdlog::sinks::stderr_sink_st>();
  to_terminal->set_pattern("%v");
  to_terminal->set_level(verbosity == Verbosity::quiet    ? spdlog::level::err
                         : verbosity == Verbosity::normal ? spdlog::level::info
                                                          : spdlog::level::debug);
  auto logger = std::make_shared<spdlog::logger>("emomc", spdlog::sinks_init_list{to_file, to_terminal});
  logger->set_level(spdlog::level::debug);
  logger->flush_on(spdlog::level::info);
  return logger;
}

}  // namespace emomc::app
