#include "name_pattern.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

constexpr std::size_t kLongest = 1000;

}  // namespace

NamePattern::NamePattern(std::string text) : text_(std::move(text)) {
  if (text_.size() > kLongest)
    throw InputError("pattern: " + std::to_string(text_.size()) + " bytes; allowed: up to " +
                     std::to_string(kLongest));
  for (std::size_t at = 0; at < text_.size();) {
    if (text_[at] == '*') {
      if (parts_.empty() || parts_.back().kind != Kind::anything) parts_.push_back({Kind::anything, ""});
      ++at;
    } else if (text_[at] == '{') {
      const std::size_t end = text_.find('}', at);
      if (end == std::string::npos) throw InputError("pattern '" + text_ + "': a '{' is never closed");
      add_placeholder(text_.substr(at + 1, end - at - 1));
      at = end + 1;
    } else {
      const std::size_t end = std::min(text_.find_first_of("*{", at), text_.size());
      parts_.push_back({Kind::literal, text_.substr(at, end - at)});
      at = end;
    }
  }
  for (const auto& [kind, name] : {std::pair{Kind::emotion, "{emotion}"}, {Kind::speaker, "{speaker}"}}) {
    const auto number =
        std::count_if(parts_.begin(), parts_.end(), [k = kind](const Part& part) { return part.kind == k; });
    if (number != 1)
      throw InputError("pattern '" + text_ + "': it must have " + name + " once, it has it " +
                       std::to_string(number) + " times");
  }
}

void NamePattern::add_placeholder(const std::string& name) {
  if (name == "emotion")
    parts_.push_back({Kind::emotion, ""});
  else if (name == "speaker")
    parts_.push_back({Kind::speaker, ""});
  else
    throw InputError("pattern '" + text_ + "': {" + name +
                     "} is no placeholder; allowed are {emotion}, {speaker} and *");
}

// Searches the ways in which a name matches the pattern's parts. Patterns and names may be untrusted; each
// combination of part, position and labels is therefore visited once, since "*a*a*a*..." must not take
// exponential time.
class NamePattern::Search {
 public:
  Search(const std::vector<Part>& parts, std::string_view name)
      : parts_(parts), name_(name), can_end_(parts.size() + 1, std::vector<bool>(name.size() + 1)) {
    can_end_.back().back() = true;
    for (std::size_t part = parts.size(); part-- > 0;) mark(part);
  }

  /// The labels of all ways to match; the search stops after two different ones.
  std::vector<NameLabels> run() {
    collect(0, 0, {});
    return found_;
  }

 private:
  // Marks the positions from which the parts from `part` on can match the rest of the name.
  void mark(std::size_t part) {
    const auto& behind = can_end_[part + 1];
    if (parts_[part].kind == Kind::literal) {
      const std::string& text = parts_[part].literal;
      for (std::size_t at = 0; at + text.size() <= name_.size(); ++at)
        can_end_[part][at] = behind[at + text.size()] && name_.substr(at).starts_with(text);
      return;
    }
    const bool may_be_empty = parts_[part].kind == Kind::anything;
    bool later = false;
    for (std::size_t at = name_.size() + 1; at-- > 0;) {
      can_end_[part][at] = later || (may_be_empty && behind[at]);
      later = later || behind[at];
    }
  }

  void collect(std::size_t part, std::size_t at, const NameLabels& labels) {
    if (found_.size() > 1 || !can_end_[part][at]) return;
    if (!labels.emotion.empty() && !labels.speaker.empty()) {
      if (std::find(found_.begin(), found_.end(), labels) == found_.end()) found_.push_back(labels);
      return;
    }
    if (!seen_.emplace(part, at, labels.emotion, labels.speaker).second) return;
    const Kind kind = parts_[part].kind;
    if (kind == Kind::literal) return collect(part + 1, at + parts_[part].literal.size(), labels);
    for (std::size_t end = at + (kind == Kind::anything ? 0 : 1); end <= name_.size(); ++end) {
      NameLabels next = labels;
      if (kind == Kind::emotion) next.emotion = name_.substr(at, end - at);
      if (kind == Kind::speaker) next.speaker = name_.substr(at, end - at);
      collect(part + 1, end, next);
    }
  }

  const std::vector<Part>& parts_;
  std::string_view name_;
  std::vector<std::vector<bool>> can_end_;  ///< [parts + 1][name.size() + 1]
  std::set<std::tuple<std::size_t, std::size_t, std::string, std::string>> seen_;
  std::vector<NameLabels> found_;
};

std::optional<NameLabels> NamePattern::match(const std::string& name) const {
  const std::vector<NameLabels> found = Search(parts_, name).run();
  if (found.empty()) return std::nullopt;
  if (found.size() > 1)
    throw InputError(name + ": matches '" + text_ + "' in more than one way: emotion '" + found[0].emotion +
                     "' of speaker '" + found[0].speaker + "', or '" + found[1].emotion + "' of '" +
                     found[1].speaker + "'; use a pattern that tells them apart, or a manifest");
  return found[0];
}

}  // namespace emomc
