#include <clew/error.hpp>

#include <gtest/gtest.h>

#include "value/check.hpp"

namespace clew {
namespace {

TEST(ValueError, GathersThePathWhileItPasses) {
  try {
    try {
      try {
        throw ValueError("$.id", "expected string, found int");
      } catch (ValueError& error) {
        error.prepend(path_step(3));
        throw;
      }
    } catch (ValueError& error) {
      error.prepend(path_step("messages"));
      throw;
    }
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "$.messages[3].id: expected string, found int");
  }
}

TEST(ValueError, HasNoPathUntilOneIsKnown) {
  ValueError error("'x' is not a UUID");
  EXPECT_STREQ(error.what(), "'x' is not a UUID");
  EXPECT_EQ(error.path(), "");
  error.prepend(".id");
  EXPECT_STREQ(error.what(), "$.id: 'x' is not a UUID");
  EXPECT_EQ(error.path(), "$.id");
  EXPECT_EQ(error.reason(), "'x' is not a UUID");
}

TEST(ValueError, KeepsARootPathWhenPrefixed) {
  ValueError error("$", "expected object, found int");
  EXPECT_STREQ(error.what(), "$: expected object, found int");
  error.prepend("[0]");
  EXPECT_EQ(error.path(), "$[0]");
}

TEST(PathStep, QuotesKeysThatAreNotIdentifiers) {
  EXPECT_EQ(path_step("name_2"), ".name_2");
  EXPECT_EQ(path_step("_x"), "._x");
  EXPECT_EQ(path_step("odd key"), "[\"odd key\"]");
  EXPECT_EQ(path_step("2nd"), "[\"2nd\"]");
  EXPECT_EQ(path_step(""), "[\"\"]");
  EXPECT_EQ(path_step("a\"b\\c"), "[\"a\\\"b\\\\c\"]");
  EXPECT_EQ(path_step(std::size_t{12}), "[12]");
}

TEST(SerdeError, NamesFormatAndOffset) {
  const SerdeError placed("msgpack", 12, "the input ends inside a string");
  EXPECT_STREQ(placed.what(), "msgpack at byte 12: the input ends inside a string");
  EXPECT_EQ(placed.offset(), 12u);
  EXPECT_EQ(placed.reason(), "the input ends inside a string");

  const SerdeError plain("no such type");
  EXPECT_STREQ(plain.what(), "no such type");
  EXPECT_EQ(plain.offset(), std::nullopt);
}

TEST(CryptoError, IsASerdeError) {
  EXPECT_THROW(throw CryptoError("MAC check failed"), SerdeError);
}

TEST(CheckDeathTest, AbortsWithItsText) {
  CLEW_CHECK(1 + 1 == 2);
  EXPECT_DEATH(CLEW_CHECK(1 + 1 == 3), "error_test.cpp:[0-9]+: check failed: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace clew
