#include "emomc/core/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace emomc {
namespace {

TEST(Utf8, KnowsWhatIsUtf8) {
  for (const char* text : {"", "plain", "\xc2\x80", "\xc3\xa4", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\xe2\x82\xac z"})
    EXPECT_TRUE(is_utf8(text)) << text;
  EXPECT_TRUE(is_utf8(std::string("a\0b", 3)));
}

TEST(Utf8, KnowsWhatIsNot) {
  for (const char* text :
       {"\x80", "\xe4", "f\xfcr", "\xc3", "\xc3(", "\xe2\x82", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "ok\xf0\x90\x80"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

}  // namespace
}  // namespace emomc
