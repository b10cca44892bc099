// Reads values of functions from another program, as the scripts make_special_functions.py and
// make_densities.py write them: a line has the function's name, its arguments, its value, and the condition
// of the value.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace emomc::testing {

struct ReferenceValue {
  std::string name, line;
  std::vector<double> arguments;
  double value = 0, condition = 0;
};

/// Lines without a value are skipped.
inline std::vector<ReferenceValue> read_reference_values(const std::string& path) {
  std::ifstream file(path);
  std::vector<ReferenceValue> values;
  for (std::string line; std::getline(file, line);) {
    ReferenceValue v;
    v.line = line;
    std::istringstream words(line);
    words >> v.name;
    for (std::string word; words >> word;) v.arguments.push_back(std::strtod(word.c_str(), nullptr));
    if (v.arguments.size() < 3) continue;
    v.condition = v.arguments.back();
    v.arguments.pop_back();
    v.value = v.arguments.back();
    v.arguments.pop_back();
    values.push_back(v);
  }
  return values;
}

}  // namespace emomc::testing
