// A value of a JSON file, read as what is expected there or refused with the file and the keys that lead to
// it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace emomc::app {

/// The text of a file of at most `most_bytes`. Throws InputError, naming it, where it cannot be read.
std::string read_text(const std::filesystem::path& file, std::uintmax_t most_bytes);

/// Its first bytes, to be shown; empty where it is no regular file or cannot be read.
std::string beginning_of(const std::filesystem::path& file, std::size_t most_bytes);

/// JSON of at most 32 levels; discarded, as nlohmann::json calls it, where the text is something else. An
/// open bracket of a byte takes eighty in memory, so that the levels are counted while they are read.
nlohmann::json parse_json(const std::string& text);

/// Borrows the JSON. Every reading throws InputError with file and key where something else is there.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, std::string file, std::string key = "")
      : value_(&value), file_(std::move(file)), key_(std::move(key)) {}

  [[noreturn]] void refuse(const std::string& expected) const;
  /// Whether this is an object that has the key.
  bool has(const std::string& key) const;
  /// Throws where this is no object or has no such key.
  JsonValue at(const std::string& key) const;
  /// Of a list of any length, or of exactly `size`.
  std::vector<JsonValue> items() const;
  std::vector<JsonValue> items(std::size_t size) const;
  std::string text() const;
  std::size_t count() const;
  /// A number, or null for one that is not finite.
  nlohmann::json number() const;
  /// Lists of `size` of those.
  nlohmann::json numbers(std::size_t size) const;
  nlohmann::json counts(std::size_t size) const;

 private:
  const nlohmann::json* value_;
  std::string file_, key_;
};

}  // namespace emomc::app
