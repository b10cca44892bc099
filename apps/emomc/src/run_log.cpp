#include "run_log.hpp"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/files.hpp"

namespace emomc::app {
namespace {

// The file sinks of spdlog do not report failed writes.
class CheckedFileSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit CheckedFileSink(const std::filesystem::path& file) : file_(file, File::Mode::append) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    file_.write_all({text.data(), text.size()});
  }
  void flush_() override {}

 private:
  File file_;
};

}  // namespace

std::shared_ptr<spdlog::logger> make_logger(const std::filesystem::path& directory, Verbosity verbosity) {
  auto to_file = std::make_shared<CheckedFileSink>(directory / "run.log");
  auto to_terminal = std::make_shared<spdlog::sinks::stderr_sink_st>();
  to_terminal->set_pattern("%v");
  to_terminal->set_level(verbosity == Verbosity::quiet    ? spdlog::level::err
                         : verbosity == Verbosity::normal ? spdlog::level::info
                                                          : spdlog::level::debug);
  auto logger = std::make_shared<spdlog::logger>("emomc", spdlog::sinks_init_list{to_terminal, to_file});
  logger->set_level(spdlog::level::debug);
  logger->flush_on(spdlog::level::info);
  // By default spdlog prints the exception of a sink on stderr and continues.
  logger->set_error_handler([](const std::string& message) { throw MachineError(message); });
  return logger;
}

void log_in_both(spdlog::logger& logger, const std::string& on_terminal, const std::string& in_file) {
  bool is_file = false;  // whether `sink` is the file; make_logger() puts the terminal first
  for (const auto& sink : logger.sinks()) {
    const std::string& text = is_file ? in_file : on_terminal;
    is_file = true;
    if (!sink->should_log(spdlog::level::info)) continue;
    sink->log({logger.name(), spdlog::level::info, text});
    sink->flush();
  }
}

}  // namespace emomc::app
