#include "name_pattern.hpp"

#include <algorithm>
#include <utility>

#include "emomc/core/errors.hpp"

namespace emomc {

NamePattern::NamePattern(std::string text) : text_(std::move(text)) {
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

void NamePattern::collect(std::size_t part, std::string_view rest, NameLabels& labels,
                          std::vector<NameLabels>& found) const {
  if (found.size() > 1) return;
  if (part == parts_.size()) {
    if (rest.empty() && std::find(found.begin(), found.end(), labels) == found.end()) found.push_back(labels);
    return;
  }
  const Kind kind = parts_[part].kind;
  if (kind == Kind::literal) {
    const std::string& text = parts_[part].literal;
    if (rest.starts_with(text)) collect(part + 1, rest.substr(text.size()), labels, found);
    return;
  }
  for (std::size_t length = kind == Kind::anything ? 0 : 1; length <= rest.size(); ++length) {
    if (kind == Kind::emotion) labels.emotion = rest.substr(0, length);
    if (kind == Kind::speaker) labels.speaker = rest.substr(0, length);
    collect(part + 1, rest.substr(length), labels, found);
  }
}

std::optional<NameLabels> NamePattern::match(const std::string& name) const {
  NameLabels labels;
  std::vector<NameLabels> found;
  collect(0, name, labels, found);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1)
    throw InputError(name + ": matches '" + text_ + "' in more than one way: emotion '" + found[0].emotion +
                     "' of speaker '" + found[0].speaker + "', or '" + found[1].emotion + "' of '" +
                     found[1].speaker + "'; use a pattern that tells them apart, or a manifest");
  return found[0];
}

}  // namespace emomc
