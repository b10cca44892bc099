#include "prior_text.hpp"

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace emomc {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text), rest_(text) {}

  PriorSpec prior() {
    expect('{');
    const std::optional<PriorFamily> family = family_from_name(word());
    if (!family) refuse();
    expect(':');
    PriorSpec result{*family, arguments(argument_names(*family))};
    expect('}');
    if (!rest_.empty()) refuse();
    return result;
  }

 private:
  [[noreturn]] void refuse() const { throw std::logic_error("prior_of_text: " + text_); }
  void skip_blanks() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool next_is(char c) {
    skip_blanks();
    return !rest_.empty() && rest_[0] == c;
  }
  void expect(char c) {
    if (!next_is(c)) refuse();
    rest_.remove_prefix(1);
  }
  std::string word() {
    skip_blanks();
    std::string found(rest_.substr(0, rest_.find_first_of(" :,{}")));
    rest_.remove_prefix(found.size());
    return found;
  }
  ArrayArgument number() {
    const std::string text = word();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) refuse();
    return {.shape = {}, .values = {value}};
  }
  /// Reads {name: number, ...}, or a single number for a family with one argument.
  std::vector<ArrayArgument> arguments(const std::vector<std::string>& names) {
    if (!next_is('{')) {
      if (names.size() != 1) refuse();
      return {number()};
    }
    expect('{');
    std::vector<ArrayArgument> result;
    for (const std::string& name : names) {
      if (!result.empty()) expect(',');
      if (word() != name) refuse();
      expect(':');
      result.push_back(number());
    }
    expect('}');
    return result;
  }

  const std::string& text_;
  std::string_view rest_;
};

}  // namespace

PriorSpec prior_of_text(const std::string& text) { return Reader(text).prior(); }

}  // namespace emomc
