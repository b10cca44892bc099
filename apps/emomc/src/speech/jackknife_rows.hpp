// The rows of the delete-one jackknife over speakers.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

namespace emomc::app {

/// All rows, and the rows that remain when each speaker in turn is left out, in the order of the speakers.
/// `without` is empty if there is a single speaker, since leaving that speaker out leaves no rows.
struct JackknifeRows {
  std::vector<std::size_t> all;
  std::vector<std::vector<std::size_t>> without;
};

/// `speaker_of` contains the speaker of each row, as a number or a name.
template <class Speaker>
JackknifeRows jackknife_rows(const std::vector<Speaker>& speaker_of) {
  const std::set<Speaker> speakers(speaker_of.begin(), speaker_of.end());
  JackknifeRows result;
  for (std::size_t row = 0; row < speaker_of.size(); ++row) result.all.push_back(row);
  if (speakers.size() < 2) return result;
  for (const Speaker& left_out : speakers) {
    std::vector<std::size_t>& kept = result.without.emplace_back();
    for (std::size_t row = 0; row < speaker_of.size(); ++row)
      if (speaker_of[row] != left_out) kept.push_back(row);
  }
  return result;
}

}  // namespace emomc::app
