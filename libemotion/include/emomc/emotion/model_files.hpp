// What the files of all trained models share: numbers as .npy, and checked reading.
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

/// The most bytes of a file of numbers, and of a model.json, since JSON takes up to 32 times as much memory.
inline constexpr std::uintmax_t kMostModelBytes = std::uintmax_t{4} << 30;
inline constexpr std::uintmax_t kMostModelJsonBytes = std::uintmax_t{16} << 20;

/// `values` in NumPy's format 1.0 (NEP 1): float64, C order, with the shape `shape`.
std::string npy_of(const std::vector<std::size_t>& shape, std::span<const double> values);

/// The content of a regular file. Throws InputError if it is missing or has more bytes than `most_bytes`.
std::string read_model_file(const std::filesystem::path& file, std::uintmax_t most_bytes);

/// Calls `read` with what the folder's model.json holds. Throws InputError, which names the file, if that is
/// missing, damaged or of another version than `version`, if `read` throws one, or if a key that it reads is
/// missing or has another type.
void read_model_json(const std::filesystem::path& directory, int version,
                     const std::function<void(const nlohmann::json&)>& read);

/// Whether the folder has a model.json that names this classifier.
bool has_model_of(const std::filesystem::path& directory, const std::string& classifier);

/// The product of the factors of a shape. Throws InputError, naming `name`, if one is 0 or the numbers took
/// more than kMostModelBytes.
std::size_t count_of(const std::vector<std::size_t>& shape, const std::string& name);

/// The numbers of a file that npy_of made with `shape`, whose product is at least 1. Throws InputError if it
/// has another size, shape or hash, or a number is not finite.
std::vector<double> read_npy_numbers(const std::filesystem::path& file, const std::vector<std::size_t>& shape,
                                     const std::string& sha256);

/// A list of `count` finite numbers, which messages call `name`. Throws InputError.
std::vector<double> finite_numbers(const nlohmann::json& json, std::size_t count, const std::string& name);

}  // namespace emomc
