// Reads and writes the file formats that all trained models share: numbers as .npy, and checked JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"

namespace emomc {

/// The maximum sizes, in bytes, of a file of numbers and of a model.json; JSON takes up to 32 times as much
/// memory.
inline constexpr std::uintmax_t kMostModelBytes = std::uintmax_t{4} << 30;
inline constexpr std::uintmax_t kMostModelJsonBytes = std::uintmax_t{16} << 20;

/// `values` in NumPy's format 1.0 (NEP 1): float64, C order, with the shape `shape`.
std::string npy_of(const std::vector<std::size_t>& shape, std::span<const double> values);

/// The content of a regular file. Throws InputError if it is missing or has more bytes than `most_bytes`.
std::string read_model_file(const std::filesystem::path& file, std::uintmax_t most_bytes);

/// Calls `read` with the content of the folder's model.json. Throws InputError, with the name of the file, if
/// it is missing, damaged or has a version outside [oldest, newest], if `read` throws InputError, or if a key
/// that `read` needs is missing or has another type.
void read_model_json(const std::filesystem::path& directory, int oldest, int newest,
                     const std::function<void(const nlohmann::json&)>& read);

/// Whether the folder has a model.json that names this classifier.
bool has_model_of(const std::filesystem::path& directory, const std::string& classifier);

/// The product of the sizes in a shape. Throws InputError, with `name` in the message, if a size is 0 or the
/// numbers would take more than kMostModelBytes.
std::size_t count_of(const std::vector<std::size_t>& shape, const std::string& name);

/// Reads the numbers of a file that npy_of made with `shape`, whose product is at least 1. Throws InputError
/// if the file has another size, shape or hash, or a number is not finite.
std::vector<double> read_npy_numbers(const std::filesystem::path& file, const std::vector<std::size_t>& shape,
                                     const std::string& sha256);

/// A list of `count` finite numbers, which messages call `name`. Throws InputError if the JSON is anything
/// else.
std::vector<double> finite_numbers(const nlohmann::json& json, std::size_t count, const std::string& name);

}  // namespace emomc
