#include "value/python_equal.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace clew::internal {
namespace {

TEST(PythonEqual, NumbersCompareByAmount) {
  EXPECT_TRUE(python_equal(1, 1.0));
  EXPECT_TRUE(python_equal(true, 1));
  EXPECT_TRUE(python_equal(0.0, false));
  EXPECT_TRUE(python_equal(-0.0, 0));
  EXPECT_TRUE(python_equal(Value::integer("1" + std::string(22, '0')), 1e22));
  EXPECT_FALSE(python_equal(1, 1.5));
  EXPECT_FALSE(python_equal(true, 2));
  EXPECT_FALSE(python_equal(1, "1"));
  EXPECT_FALSE(python_equal(nullptr, 0));
  EXPECT_FALSE(python_equal(9007199254740993, 9007199254740992.0));
}

TEST(PythonEqual, NotANumberEqualsNothing) {
  const Value nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(python_equal(nan, nan));
  EXPECT_FALSE(python_equal(list({nan}), list({nan})));
  EXPECT_FALSE(python_equal(std::numeric_limits<double>::infinity(), 1));
}

TEST(PythonEqual, LooksIntoListsAndObjects) {
  EXPECT_TRUE(python_equal(list({1, object({{"a", true}, {"b", "x"}})}),
                           list({1.0, object({{"b", "x"}, {"a", 1}})})));
  EXPECT_FALSE(python_equal(list({1}), list({1, 2})));
  EXPECT_FALSE(python_equal(object({{"a", 1}}), object({{"b", 1}})));
  EXPECT_FALSE(python_equal(object({{"a", nullptr}}), object({{"b", nullptr}})));
  EXPECT_FALSE(python_equal(list(), object()));
}

TEST(PythonEqual, DepthIsNoLimit) {
  Value a = 1;
  Value b = true;
  for (int i = 0; i < 200'000; ++i) {
    a = list({a});
    b = list({b});
  }
  EXPECT_TRUE(python_equal(a, b));
}

}  // namespace
}  // namespace clew::internal
