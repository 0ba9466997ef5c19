#include <gtest/gtest.h>

#include <clew/errors.hpp>

#include "unit/channels/probe.hpp"
#include "unit/error_text.hpp"

namespace clew {
namespace {

constexpr const char* kWrittenTwice =
    "channel 'c' was written more than once in a step; make it without guard to keep the last of "
    "several values";

TEST(Ephemeral, LastsForOneStep) {
  Probe channel(ephemeral());
  EXPECT_TRUE(channel.update({1}));
  EXPECT_EQ(channel.show(), "1");
  EXPECT_EQ(channel.reloaded().show(), "1");
  EXPECT_TRUE(channel.update({}));
  EXPECT_EQ(channel.show(), "-");
  EXPECT_EQ(channel.stored(), std::nullopt);
  EXPECT_FALSE(channel.update({}));
}

TEST(Ephemeral, TakesOneValueInAStepUnlessUnguarded) {
  Probe guarded(ephemeral());
  EXPECT_EQ(error_text<InvalidUpdateError>([&] { guarded.update({1, 2}); }), kWrittenTwice);
  Probe unguarded(ephemeral(false));
  EXPECT_TRUE(unguarded.update({1, 2}));
  EXPECT_EQ(unguarded.show(), "2");
}

TEST(AnyValue, IsTheLastOfAStepAndGoneWithoutOne) {
  Probe channel(any_value());
  channel.update({1, 2});
  EXPECT_EQ(channel.show(), "2");
  channel.update({});
  EXPECT_EQ(channel.show(), "-");
}

TEST(Untracked, IsKeptButNeverStored) {
  Probe channel(untracked());
  channel.update({1});
  EXPECT_FALSE(channel.update({}));
  EXPECT_EQ(channel.show(), "1");
  EXPECT_EQ(channel.stored(), std::nullopt);
  EXPECT_EQ(channel.reloaded().show(), "-");
  EXPECT_EQ(untracked()->load(7).present, false);  // whatever an older graph stored
  EXPECT_TRUE(untracked()->is_untracked());
}

TEST(Untracked, TakesOneValueInAStepUnlessUnguarded) {
  Probe guarded(untracked());
  EXPECT_EQ(error_text<InvalidUpdateError>([&] { guarded.update({1, 2}); }), kWrittenTwice);
  Probe unguarded(untracked(false));
  unguarded.update({1, 2});
  EXPECT_EQ(unguarded.show(), "2");
}

}  // namespace
}  // namespace clew
