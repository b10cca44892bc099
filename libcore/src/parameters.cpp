#include "emomc/core/parameters.hpp"

namespace emomc {

std::vector<std::string> element_names(const ParameterLayout& layout) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(layout.dim()));
  for (const auto& block : layout.blocks) {
    if (block.shape.empty()) {
      names.push_back(block.name);
      continue;
    }
    std::vector<int> index(block.shape.size(), 0);
    for (int i = 0; i < block.size(); ++i) {
      std::string name = block.name + "[";
      for (std::size_t axis = 0; axis < index.size(); ++axis)
        name += (axis ? "," : "") + std::to_string(index[axis]);
      names.push_back(name + "]");
      for (std::size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < block.shape[axis]) break;
        index[axis] = 0;
      }
    }
  }
  return names;
}

}  // namespace emomc
