// Extracts emotion and speaker from a file name by a pattern.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace emomc {

struct NameLabels {
  std::string emotion, speaker;
  bool operator==(const NameLabels&) const = default;
};

/// A pattern: text with {emotion} and {speaker}, once each, which match one or more characters, and "*",
/// which matches any text.
class NamePattern {
 public:
  /// Throws InputError if a placeholder is missing, occurs twice or is unknown, or if the text is too long.
  explicit NamePattern(std::string text);

  /// Returns nothing if the pattern does not match the whole name. Throws InputError if the pattern matches
  /// in several ways with different labels: "{emotion}_{speaker}" is ambiguous for the name "hot_anger_CC1".
  std::optional<NameLabels> match(const std::string& name) const;

  const std::string& text() const { return text_; }

 private:
  enum class Kind { literal, emotion, speaker, anything };
  struct Part {
    Kind kind;
    std::string literal;
  };
  void add_placeholder(const std::string& name);
  class Search;

  std::string text_;
  std::vector<Part> parts_;
};

}  // namespace emomc
