// The order that a prior can impose on the values of a parameter that is a list.
#pragma once

namespace emomc {

enum class ListOrder { none, increasing, decreasing };

}  // namespace emomc
