#include "corpus_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc {

void note_problems(const std::vector<std::string>& problems, const char* one, const char* many,
                   const ProblemRule& rule, std::vector<std::string>& notes) {
  constexpr std::size_t kListed = 5;
  if (problems.empty()) return;
  const char* what = problems.size() == 1 ? one : many;
  if (rule.refuse)
    throw InputError(
        fmt::format("corpus: {} {}, the first: {}; {}", problems.size(), what, problems[0], rule.advice));
  notes.push_back(fmt::format("corpus: {} {}, left out:", problems.size(), what));
  for (std::size_t i = 0; i < std::min(kListed, problems.size()); ++i) notes.push_back("  " + problems[i]);
  if (problems.size() > kListed) notes.push_back(fmt::format("  and {} more", problems.size() - kListed));
}

void rename_labels(const std::map<std::string, std::string>& labels,
                   const std::vector<std::string*>& emotions) {
  if (labels.empty()) return;
  const std::set<std::string> found = [&] {
    std::set<std::string> names;
    for (const std::string* emotion : emotions) names.insert(*emotion);
    return names;
  }();
  const std::vector<std::string> all(found.begin(), found.end());
  for (const auto& [from, to] : labels)
    if (!found.contains(from))
      throw InputError("corpus.labels: no recording is " + excerpt(from) + "; " +
                       did_you_mean(nearest_name(from, all)) + "found: " + joined(all));
  for (std::string* emotion : emotions)
    if (const auto at = labels.find(*emotion); at != labels.end()) *emotion = at->second;
}

void require_classes(const CorpusConfig& corpus, const std::set<std::string>& found) {
  const std::vector<std::string> all(found.begin(), found.end());
  for (const std::string& name : corpus.classes)
    if (!found.contains(name))
      throw InputError("corpus.classes: no utterance is " + excerpt(name) + "; " +
                       did_you_mean(nearest_name(name, all)) + "found: " + joined(all));
}

std::vector<Utterance> wanted_utterances(const CorpusConfig& corpus, std::vector<std::string>& notes) {
  CorpusListing listing =
      list_corpus(corpus.kind, corpus.path,
                  corpus.dimensions.empty() ? ManifestLabels::required : ManifestLabels::optional);
  std::vector<std::string> unparsed;
  for (const UnparsedFile& file : listing.unparsed) unparsed.push_back(file.file.string() + ": " + file.why);
  note_problems(unparsed, "recording could not be parsed", "recordings could not be parsed",
                {.refuse = corpus.refuse_unparsed}, notes);
  std::vector<std::string*> emotions;
  for (Utterance& utterance : listing.utterances) emotions.push_back(&utterance.emotion);
  rename_labels(corpus.labels, emotions);
  const std::set<std::string> classes(corpus.classes.begin(), corpus.classes.end());
  std::set<std::string> found;
  for (const Utterance& utterance : listing.utterances) found.insert(utterance.emotion);
  require_classes(corpus, found);
  std::erase_if(listing.utterances, [&](const Utterance& utterance) {
    return !classes.empty() && !classes.contains(utterance.emotion);
  });
  return std::move(listing.utterances);
}

}  // namespace emomc
