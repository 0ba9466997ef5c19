#include <gtest/gtest.h>

#include <clew/errors.hpp>

#include "unit/channels/probe.hpp"
#include "unit/error_text.hpp"

namespace clew {
namespace {

TEST(LastValue, KeepsTheValueUntilTheNextOne) {
  Probe channel(last_value());
  EXPECT_EQ(channel.show(), "-");
  EXPECT_EQ(channel.stored(), std::nullopt);
  EXPECT_TRUE(channel.update({1}));
  EXPECT_FALSE(channel.update({}));
  EXPECT_EQ(channel.show(), "1");
  EXPECT_EQ(channel.reloaded().show(), "1");
  EXPECT_TRUE(channel.update({nullptr}));
  EXPECT_EQ(channel.show(), "null");  // null is a value
  EXPECT_EQ(channel.reloaded().show(), "null");
}

TEST(LastValue, TakesOneValueInAStep) {
  Probe channel(last_value());
  EXPECT_EQ(error_text<InvalidUpdateError>([&] { channel.update({1, 2}); }),
            "channel 'c' was written more than once in a step; give it a reducer to combine "
            "several values");
}

TEST(LastValueAfterFinish, IsReadableOnceTheRunWouldEnd) {
  Probe channel(last_value_after_finish());
  EXPECT_FALSE(channel.finish());  // nothing to finish
  EXPECT_TRUE(channel.update({1, 2}));
  EXPECT_EQ(channel.show(), "-");
  EXPECT_EQ(channel.reloaded().show(), "-");
  EXPECT_FALSE(channel.consume());
  EXPECT_TRUE(channel.finish());
  EXPECT_FALSE(channel.finish());
  EXPECT_EQ(channel.show(), "2");
  EXPECT_EQ(channel.reloaded().show(), "2");
  EXPECT_TRUE(channel.consume());
  EXPECT_EQ(channel.show(), "-");
  EXPECT_EQ(channel.stored(), std::nullopt);
}

TEST(LastValueAfterFinish, ALaterWriteHasToWaitAgain) {
  Probe channel(last_value_after_finish());
  channel.update({1});
  channel.finish();
  channel.update({2});
  EXPECT_EQ(channel.show(), "-");
}

}  // namespace
}  // namespace clew
