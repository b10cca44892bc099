#include "emomc/emotion/lone_speakers.hpp"

#include <fmt/format.h>

#include <map>

#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc {

std::string lone_speakers_warning(const FunctionalTable& functionals) {
  std::map<std::string, std::size_t> rows;
  for (const UtteranceLabels& row : functionals.rows) ++rows[row.speaker];
  std::vector<std::string> lone;
  for (const auto& [speaker, count] : rows)
    if (count == 1) lone.push_back(speaker);
  if (lone.empty()) return {};
  return fmt::format(
      "warning: {} of {} speakers have one utterance each ({}); standardised by its speaker, it is 0 in "
      "every column, so that nothing is learned from it and no column counts for its own prediction",
      lone.size(), rows.size(), excerpt(joined(lone)));
}

}  // namespace emomc
