#include <gtest/gtest.h>

#include "unit/channels/probe.hpp"

namespace clew {
namespace {

TEST(Topic, HoldsWhatTheLastStepCollected) {
  Probe channel(topic());
  EXPECT_EQ(channel.show(), "-");
  EXPECT_TRUE(channel.update({"a", list({"b", "c"}), "d"}));
  EXPECT_EQ(channel.show(), R"(["a","b","c","d"])");
  EXPECT_EQ(channel.reloaded().show(), R"(["a","b","c","d"])");
  EXPECT_TRUE(channel.update({"e"}));
  EXPECT_EQ(channel.show(), R"(["e"])");
  EXPECT_TRUE(channel.update({}));
  EXPECT_EQ(channel.show(), "-");
  EXPECT_FALSE(channel.update({}));
}

TEST(Topic, AnEmptiedOneIsStoredAsEmpty) {
  Probe channel(topic());
  channel.update({"a"});
  channel.update({});
  EXPECT_EQ(channel.stored(), list());
  EXPECT_EQ(channel.reloaded().show(), "-");
}

TEST(Topic, AccumulatesOverSteps) {
  Probe channel(topic(true));
  channel.update({"a"});
  EXPECT_FALSE(channel.update({}));
  EXPECT_FALSE(channel.update({list()}));
  EXPECT_TRUE(channel.update({list({"b"})}));
  EXPECT_EQ(channel.show(), R"(["a","b"])");
  Probe later = channel.reloaded();
  later.update({"c"});
  EXPECT_EQ(later.show(), R"(["a","b","c"])");
  EXPECT_EQ(channel.show(), R"(["a","b"])");
}

}  // namespace
}  // namespace clew
