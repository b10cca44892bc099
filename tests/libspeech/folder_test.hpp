// Provides a folder for the files of one test, and a check of error messages.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "emomc/core/errors.hpp"

namespace emomc {

class FolderTest : public ::testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("emomc-speech-" + std::to_string(::getpid()));
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    auto file = folder / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
};

/// Expects that `call` throws InputError with a message of one line that contains all `words`.
template <class Call>
void expect_input_error(Call call, const std::vector<std::string>& words) {
  try {
    call();
    ADD_FAILURE() << "accepted; expected an error with '" << (words.empty() ? "" : words[0]) << "'";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const auto& word : words)
      EXPECT_NE(message.find(word), std::string::npos) << "no '" << word << "' in: " << message;
  }
}

}  // namespace emomc
