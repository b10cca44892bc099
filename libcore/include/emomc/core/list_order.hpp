// The order in which the values of a parameter that is a list have to be.
#pragma once

namespace emomc {

enum class ListOrder { none, increasing, decreasing };

}  // namespace emomc
