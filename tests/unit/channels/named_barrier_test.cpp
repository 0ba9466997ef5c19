#include <gtest/gtest.h>

#include <clew/errors.hpp>

#include "unit/channels/probe.hpp"
#include "unit/error_text.hpp"

namespace clew {
namespace {

TEST(NamedBarrier, OpensWhenAllHaveArrived) {
  Probe channel(named_barrier({"b", "a", "b"}));
  EXPECT_EQ(channel.show(), "-");
  EXPECT_TRUE(channel.update({"a"}));
  EXPECT_FALSE(channel.update({"a"}));
  EXPECT_EQ(channel.show(), "-");
  EXPECT_FALSE(channel.consume());
  EXPECT_TRUE(channel.update({"b"}));
  EXPECT_EQ(channel.show(), "null");  // open, with nothing to read
  EXPECT_TRUE(channel.consume());
  EXPECT_EQ(channel.show(), "-");  // and all over again
  channel.update({"b", "a"});
  EXPECT_EQ(channel.show(), "null");
}

TEST(NamedBarrier, WhoHasArrivedIsStored) {
  Probe channel(named_barrier({"a", "b"}));
  channel.update({"b"});
  Probe later = channel.reloaded();
  EXPECT_EQ(later.show(), "-");
  EXPECT_FALSE(later.update({"b"}));
  later.update({"a"});
  EXPECT_EQ(later.show(), "null");
  EXPECT_EQ(later.reloaded().show(), "null");
}

TEST(NamedBarrier, WaitsOnlyForItsOwn) {
  Probe channel(named_barrier({"a"}));
  EXPECT_EQ(error_text<InvalidUpdateError>([&] { channel.update({"z"}); }),
            "channel 'c' does not wait for this value");
  EXPECT_THROW(channel.update({1}), InvalidUpdateError);
}

TEST(NamedBarrierAfterFinish, OpensWhenTheRunWouldEnd) {
  Probe channel(named_barrier_after_finish({"a", "b"}));
  channel.update({"a"});
  EXPECT_FALSE(channel.finish());  // one is missing
  channel.update({"b"});
  EXPECT_EQ(channel.show(), "-");
  EXPECT_EQ(channel.reloaded().show(), "-");
  EXPECT_TRUE(channel.finish());
  EXPECT_EQ(channel.show(), "null");
  EXPECT_EQ(channel.reloaded().show(), "null");
  EXPECT_TRUE(channel.consume());
  EXPECT_EQ(channel.show(), "-");
  channel.update({"a", "b"});
  EXPECT_EQ(channel.show(), "-");  // finished once is not finished again
}

}  // namespace
}  // namespace clew
