#include "yaml_reader.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <sstream>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/core/utf8.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 20;
constexpr std::size_t max_depth = 32;
// The limit applies to one map, since the check for duplicates compares each key with all others.
constexpr std::size_t max_keys = 1000;

bool is_control(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return code < 0x20 || code == 0x7f;
}

/// Builds the tree from yaml-cpp's events. YAML::Node would share aliased nodes, keep duplicate keys and not
/// record which scalars were quoted.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, const YamlPlace& place) : text_(text), place_(place) {}

  /// Returns the tree. The function may be called once yaml-cpp has finished the document.
  YamlNode take() {
    if (odd_key_) refuse_at(*odd_key_, "", "a key must be a name, not a list, a map or nothing");
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(YamlNode::Kind::null, mark, "", anchor));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_alias(at(mark)); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(YamlNode::Kind::scalar, mark, tag, anchor);
    node.scalar = value;
    node.quoted = tag == "!";
    if (node.quoted) require_closed_quote(mark, node.place);
    add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(YamlNode::Kind::list, mark, tag, anchor));
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(YamlNode::Kind::map, mark, tag, anchor));
  }
  void OnMapEnd() override { close(); }

  [[noreturn]] static void refuse_alias(const YamlPlace& place) {
    refuse_at(place, "",
              "YAML anchors (&name) and aliases (*name) are not supported; put quotes around a text that "
              "begins with & or *");
  }

  YamlPlace at(const YAML::Mark& mark) const {
    return {place_.source, place_.line > 0 && !mark.is_null() ? mark.line + 1 : place_.line};
  }

 private:
  YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    YamlNode node;
    node.kind = kind;
    node.place = at(mark);
    if (anchor != YAML::NullAnchor) refuse_alias(node.place);
    if (!tag.empty() && tag != "?" && tag != "!") {
      refuse_at(node.place, "", "the YAML tag " + excerpt(tag) + " is not supported; remove it");
    }
    return node;
  }

  /// Refuses a quoted text without its closing quote: yaml-cpp accepts the end of the file instead.
  void require_closed_quote(const YAML::Mark& mark, const YamlPlace& place) const {
    const auto begin = static_cast<std::size_t>(mark.pos);
    if (begin >= text_.size() || (text_[begin] != '"' && text_[begin] != '\'')) return;  // a block scalar
    for (std::size_t i = begin + 1; i < text_.size(); ++i) {
      const bool doubled = i + 1 < text_.size() && text_[i + 1] == text_[i];
      const bool escaped = text_[begin] == '"' ? text_[i] == '\\' : text_[i] == '\'' && doubled;
      if (escaped) {
        ++i;
      } else if (text_[i] == text_[begin]) {
        return;
      }
    }
    refuse_at(place, "", "YAML syntax: the quote that begins here is not closed");
  }

  void open(YamlNode node) {
    if (open_.size() >= max_depth) {
      refuse_at(node.place, "", "nested too deeply; allowed: " + std::to_string(max_depth) + " levels");
    }
    open_.push_back(add(std::move(node)));
  }
  void close() { open_.pop_back(); }

  /// Adds the node to its parent; the address stays valid while the node is the last one of its parent.
  YamlNode* add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return &root_;
    }
    YamlNode& parent = *open_.back();
    const bool is_key = parent.kind == YamlNode::Kind::map && parent.keys.size() == parent.items.size();
    if (!is_key) {
      const bool nothing = node.kind == YamlNode::Kind::null && parent.kind == YamlNode::Kind::map;
      if (nothing) node.place = parent.keys.back().place;  // yaml-cpp reports the place of the next token
      return &parent.items.emplace_back(std::move(node));
    }
    if (node.kind != YamlNode::Kind::scalar) {
      // The key is refused later, because an unclosed list looks like a key until yaml-cpp reports the
      // missing end.
      if (!odd_key_) odd_key_ = node.place;
      return &parent.keys.emplace_back(std::move(node));
    }
    if (parent.keys.size() >= max_keys) refuse_at(node.place, "", "too many keys in a map; allowed: 1000");
    for (const YamlNode& key : parent.keys) {
      if (key.scalar != node.scalar) continue;
      const std::string first =
          key.place.line > 0 ? " (first in line " + std::to_string(key.place.line) + ")" : "";
      refuse_at(node.place, excerpt(node.scalar), "this key is there twice" + first + "; remove one");
    }
    return &parent.keys.emplace_back(std::move(node));
  }

  std::string_view text_;
  YamlPlace place_;
  YamlNode root_;
  std::optional<YamlPlace> odd_key_;
  std::vector<YamlNode*> open_;
};

/// Refuses bytes that yaml-cpp misreads: it takes byte 4 for the end of the file, and misreads a zero byte.
void refuse_binary(const std::string& text, const YamlPlace& place) {
  int line = 1;
  if (!is_utf8(text)) {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1, ++line)
      if (!is_utf8(std::string_view(text).substr(begin, end - begin))) break;
    refuse_at({place.source, place.line > 0 ? line : 0}, "", "the text is not UTF-8");
  }
  for (const char letter : text) {
    if (letter == '\n') ++line;
    if (!is_control(letter) || letter == '\n' || letter == '\r' || letter == '\t') continue;
    refuse_at(
        {place.source, place.line > 0 ? line : 0}, "",
        "byte " + std::to_string(static_cast<unsigned char>(letter)) + " does not belong in a text file");
  }
}

/// Whether a line of the text, counted from 0, is indented by a tab. YAML does not allow this, and yaml-cpp's
/// messages about it seldom name tabs.
bool is_indented_by_tab(const std::string& text, int line) {
  std::size_t begin = 0;
  for (int i = 0; i < line; ++i) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return false;
    ++begin;
  }
  return text.find('\t', begin) < text.find_first_not_of(" \t", begin);
}

}  // namespace

std::string YamlPlace::text() const { return line > 0 ? *source + ":" + std::to_string(line) : *source; }

const YamlNode* YamlNode::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].scalar == key) return &items[i];
  }
  return nullptr;
}

YamlNode* YamlNode::find(std::string_view key) {
  return const_cast<YamlNode*>(static_cast<const YamlNode&>(*this).find(key));
}

void refuse_at(const YamlPlace& place, const std::string& key, const std::string& why) {
  throw InputError(one_line(place.text() + ": " + (key.empty() ? "" : key + ": ") + why));
}

YamlNode parse_yaml(const std::string& text, const YamlPlace& place) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) return parse_yaml(text.substr(byte_order_mark.size()), place);
  if (text.size() > max_bytes)
    refuse_at({place.source, 0}, "", "larger than 1 MiB; this is no configuration");
  refuse_binary(text, place);
  TreeBuilder tree(text, place);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    YamlNode root;
    root.place = place;
    if (!parser.HandleNextDocument(tree)) return root;
    root = tree.take();
    TreeBuilder second(text, place);
    if (parser.HandleNextDocument(second)) {
      refuse_at(second.take().place, "", "a second YAML document begins here; allowed: one");
    }
    return root;
  } catch (const YAML::Exception& error) {
    if (error.msg.find("anchor") != std::string::npos || error.msg.find("alias") != std::string::npos) {
      TreeBuilder::refuse_alias(tree.at(error.mark));
    }
    if (!error.mark.is_null() && is_indented_by_tab(text, error.mark.line))
      refuse_at(tree.at(error.mark), "", "YAML allows no tabs for indentation; indent by blanks");
    refuse_at(tree.at(error.mark), "",
              "YAML syntax: " + excerpt(error.msg) +
                  (error.mark.is_null() ? "" : " (column " + std::to_string(error.mark.column + 1) + ")"));
  }
}

namespace {

/// Refuses a value of --set that YAML would cut short: a blank and # end a plain value and begin a comment,
/// so that "h #1/d.csv" would become "h".
void refuse_cut_value(const YamlNode& value, const std::string& written, const YamlPlace& place,
                      const std::string& key) {
  const bool plain =
      (value.kind == YamlNode::Kind::scalar || value.kind == YamlNode::Kind::null) && !value.quoted;
  const std::size_t hash = written.find('#');
  if (plain && hash != std::string::npos && value.scalar.find('#') == std::string::npos)
    refuse_at(place, key,
              "YAML takes what follows # for a comment; put the value in quotes of its own: " + key + "='\"" +
                  written + "\"'");
}

}  // namespace

void apply_override(YamlNode& root, const std::string& assignment) {
  const YamlPlace place{std::make_shared<const std::string>("--set " + excerpt(assignment)), 0};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    refuse_at(place, "", "not of the form key.path=value, as in sampler.draws=500");
  }
  const std::string path = assignment.substr(0, equals);
  YamlNode value = parse_yaml(assignment.substr(equals + 1), place);
  refuse_cut_value(value, assignment.substr(equals + 1), place, path);

  YamlNode* node = &root;
  std::size_t depth = 0;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (name.empty()) refuse_at(place, "", "a name between the dots of the key is missing");
    if (++depth > max_depth) refuse_at(place, "", "the key has too many parts");
    if (node->kind == YamlNode::Kind::null) {
      node->kind = YamlNode::Kind::map;
      if (node != &root) node->place = place;  // what is missing at the top is missing in the file
    }
    if (node->kind != YamlNode::Kind::map) {
      refuse_at(place, path.substr(0, begin - 1), "is a value and has no keys below it");
    }
    YamlNode* child = node->find(name);
    if (child == nullptr) {
      YamlNode& key = node->keys.emplace_back();
      key.kind = YamlNode::Kind::scalar;
      key.scalar = name;
      key.place = place;
      child = &node->items.emplace_back();
      child->place = place;
    }
    node = child;
    begin = end + 1;
  }
  *node = std::move(value);
}

}  // namespace emomc::app
