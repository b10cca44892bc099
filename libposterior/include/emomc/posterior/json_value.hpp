// Checked access to the values of a JSON file. An error message names the file and the path of keys to the
// value.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace emomc {

/// The text of a file of at most `most_bytes`. Throws InputError, which names the file, if it is longer or
/// cannot be read.
std::string read_text(const std::filesystem::path& file, std::uintmax_t most_bytes);

/// At most the first `most_bytes` of a file, for display; empty if the file is not regular or cannot be read.
std::string beginning_of(const std::filesystem::path& file, std::size_t most_bytes);

/// Parses JSON of at most 32 levels. The result is discarded (nlohmann::json's term) if the text is anything
/// else. Levels are counted during parsing, since an open bracket, one byte of text, takes eighty bytes of
/// memory.
nlohmann::json parse_json(const std::string& text);

/// A value of a JSON document, which must outlive it. Every reading function throws InputError with file and
/// key if the value is of another kind.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, std::string file, std::string key = "")
      : value_(&value), file_(std::move(file)), key_(std::move(key)) {}

  [[noreturn]] void refuse(const std::string& expected) const;
  /// Whether this is an object that has the key.
  bool has(const std::string& key) const;
  /// Throws InputError if this is no object or lacks the key.
  JsonValue at(const std::string& key) const;
  /// The items of a list: of any length, or of exactly `size` items.
  std::vector<JsonValue> items() const;
  std::vector<JsonValue> items(std::size_t size) const;
  /// The value as a string.
  std::string text() const;
  /// The value as an unsigned integer.
  std::size_t count() const;
  /// The value as a number, or null, which stands for a number that is not finite.
  nlohmann::json number() const;
  /// The value as a list of `size` numbers (each a number or null), or of `size` counts.
  nlohmann::json numbers(std::size_t size) const;
  nlohmann::json counts(std::size_t size) const;

 private:
  const nlohmann::json* value_;
  std::string file_, key_;
};

}  // namespace emomc
