#include "citation.hpp"

#include <memory>
#include <vector>

#include "emomc/core/errors.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {
namespace {

std::string text_at(const YamlNode& map, const char* key) {
  const YamlNode* value = map.find(key);
  return value != nullptr && value->kind == YamlNode::Kind::scalar ? value->scalar : "";
}

std::string name_of(const YamlNode& author) {
  const std::string given = text_at(author, "given-names"), family = text_at(author, "family-names");
  if (family.empty()) return text_at(author, "name");
  return given.empty() ? family : given + " " + family;
}

}  // namespace

Citation citation_of(const std::string& cff) {
  Citation citation;
  const YamlNode root = parse_yaml(cff, {std::make_shared<const std::string>("CITATION.cff"), 1});
  const std::string title = text_at(root, "title"), version = text_at(root, "version"),
                    released = text_at(root, "date-released"), doi = text_at(root, "doi"),
                    address = text_at(root, "repository-code");
  std::string authors, braced;  // braces, since BibTeX would split the name of a group
  if (const YamlNode* list = root.find("authors"))
    for (const YamlNode& author : list->items) {
      const std::string name = name_of(author), separator = authors.empty() ? "" : " and ";
      authors += separator + name;
      braced += separator + (text_at(author, "family-names").empty() ? "{" + name + "}" : name);
    }
  const std::string year = released.substr(0, 4);
  citation.sentence =
      authors + (year.empty() ? "" : " (" + year + ")") + ". " + title + ". Version " + version + ".";
  if (!doi.empty()) citation.sentence += " https://doi.org/" + doi;
  if (doi.empty() && !address.empty()) citation.sentence += " " + address;
  const std::string name = title.substr(0, title.find(':'));
  citation.bibtex = "@software{" + name + ",\n  author = {" + braced + "},\n  title = {" + title + "},\n";
  const auto add = [&](const char* field, const std::string& value) {
    if (!value.empty()) citation.bibtex += std::string("  ") + field + " = {" + value + "},\n";
  };
  add("version", version);
  add("year", year);
  add("doi", doi);
  add("url", address);
  citation.bibtex += "}";
  return citation;
}

}  // namespace emomc::app
