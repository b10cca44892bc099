// Which of the matched components is number 0, 1, ...
#pragma once

#include <string>
#include <vector>

#include "emomc/sampler/mixture_labels.hpp"

namespace emomc::matching {

struct ComponentNumbers {
  std::vector<int> order;  // [K], the number in the relabelling that becomes k
  std::string key;         // what increases or, of weights, decreases with k: "means[k,0]"
};

// By the first of the columns' means, scales and weights whose mean over draws tells every number from the
// next by a sd of their difference, so that other draws of the posterior give the same numbers; where none
// does, by that which comes nearest.
ComponentNumbers number_matched(const DrawSet& set, const MixtureNames& names,
                                const Relabelling& relabelling);

}  // namespace emomc::matching
