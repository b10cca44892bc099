#include "emomc/posterior/json_value.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "emomc/core/errors.hpp"
#include "emomc/core/input_path.hpp"

namespace emomc {

using nlohmann::json;

std::string read_text(const std::filesystem::path& file, std::uintmax_t most_bytes) {
  refuse_link_cycle(file);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw InputError(file.string() + ": there is no such file");
  const auto bytes = std::filesystem::file_size(file, error);
  if (error || bytes > most_bytes)
    throw InputError(file.string() + ": longer than the " + std::to_string(most_bytes) + " bytes expected");
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  if (bytes > 0) text << stream.rdbuf();
  if (!stream || !text) throw InputError(file.string() + ": it cannot be read");
  return text.str();
}

std::string beginning_of(const std::filesystem::path& file, std::size_t most_bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return "";
  std::ifstream stream(file, std::ios::binary);
  std::string text(most_bytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

json parse_json(const std::string& text) {
  constexpr int kDeepest = 32;
  struct TooDeep {};
  const auto count = [](int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) throw TooDeep{};
    return true;
  };
  try {
    return json::parse(text, count, false);
  } catch (const TooDeep&) {
    return json(json::value_t::discarded);
  }
}

void JsonValue::refuse(const std::string& expected) const {
  throw InputError(file_ + ": " + (key_.empty() ? "" : key_ + ": ") + "expected " + expected + ", not " +
                   value_->type_name());
}

bool JsonValue::has(const std::string& key) const { return value_->is_object() && value_->contains(key); }

JsonValue JsonValue::at(const std::string& key) const {
  if (!value_->is_object()) refuse("an object");
  const std::string path = key_.empty() ? key : key_ + "." + key;
  if (!value_->contains(key)) throw InputError(file_ + ": " + path + " is missing");
  return {(*value_)[key], file_, path};
}

std::vector<JsonValue> JsonValue::items() const {
  if (!value_->is_array()) refuse("a list");
  std::vector<JsonValue> list;
  for (std::size_t i = 0; i < value_->size(); ++i)
    list.emplace_back((*value_)[i], file_, key_ + "[" + std::to_string(i) + "]");
  return list;
}

std::vector<JsonValue> JsonValue::items(std::size_t size) const {
  auto list = items();
  if (list.size() != size)
    throw InputError(file_ + ": " + key_ + ": expected " + std::to_string(size) + " items, not " +
                     std::to_string(list.size()));
  return list;
}

std::string JsonValue::text() const {
  if (!value_->is_string()) refuse("a text");
  return value_->get<std::string>();
}

std::size_t JsonValue::count() const {
  if (!value_->is_number_unsigned()) refuse("a count");
  return value_->get<std::size_t>();
}

json JsonValue::number() const {
  if (!value_->is_number() && !value_->is_null()) refuse("a number or null");
  return *value_;
}

json JsonValue::numbers(std::size_t size) const {
  json list = json::array();
  for (const auto& item : items(size)) list.push_back(item.number());
  return list;
}

json JsonValue::counts(std::size_t size) const {
  json list = json::array();
  for (const auto& item : items(size)) list.push_back(item.count());
  return list;
}

}  // namespace emomc
