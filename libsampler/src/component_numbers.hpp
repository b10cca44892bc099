// Chooses the number 0, 1, ... of each matched component.
#pragma once

#include <string>
#include <vector>

#include "emomc/sampler/mixture_labels.hpp"

namespace emomc::matching {

struct ComponentNumbers {
  std::vector<int> order;  // [K], the number in the relabelling that becomes number k
  // the quantity that increases with k, or decreases if it is a weight: "means[k,0]"
  std::string key;
};

// Orders components by the first of the columns' means, scales and weights for which the means over draws of
// successive numbers differ by at least one sd of their difference, so that other draws of the posterior get
// the same numbers. If there is no such quantity, the one that comes closest is used.
ComponentNumbers number_matched(const DrawSet& set, const MixtureNames& names,
                                const Relabelling& relabelling);

}  // namespace emomc::matching
