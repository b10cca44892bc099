// What a file's name says of emotion and speaker.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace emomc {

struct NameLabels {
  std::string emotion, speaker;
  bool operator==(const NameLabels&) const = default;
};

/// Text with {emotion} and {speaker}, once each, that stand for one character or more, and "*" for any text.
class NamePattern {
 public:
  /// Throws InputError where a placeholder is missing, doubled or unknown.
  explicit NamePattern(std::string text);

  /// Nothing where the whole name does not match. Throws InputError where it does with different labels:
  /// "{emotion}_{speaker}" cannot tell what "hot_anger_CC1" means.
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
