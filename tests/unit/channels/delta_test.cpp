#include <gtest/gtest.h>

#include <clew/errors.hpp>
#include <clew/extension.hpp>
#include <clew/types.hpp>

#include "channels/stored_history.hpp"
#include "unit/channels/probe.hpp"
#include "unit/error_text.hpp"

namespace clew {
namespace {

Value join(const Value& current, std::span<const Value> writes) {
  Value joined = current;
  for (const Value& write : writes) joined = joined.concat(write);
  return joined;
}

Value replay(const ChannelPtr& channel, std::optional<Value> seed, std::vector<Value> writes) {
  DeltaHistory history;
  history.seed = std::move(seed);
  for (Value& write : writes) history.writes.push_back({"task", "c", std::move(write)});
  return dynamic_cast<const StoredAsHistory&>(*channel).replay(history, "c").value;
}

TEST(DeltaChannel, FoldsTheWritesOfAStep) {
  Probe channel(delta(join, list({0})));
  EXPECT_EQ(channel.show(), "[0]");
  EXPECT_FALSE(channel.update({}));
  EXPECT_TRUE(channel.update({list({1}), list({2})}));
  EXPECT_EQ(channel.show(), "[0,1,2]");
  EXPECT_EQ(channel.stored(), std::nullopt);  // its writes are
}

TEST(DeltaChannel, IsRebuiltFromASnapshotAndTheWritesSince) {
  const ChannelPtr channel = delta(join);
  const Value snapshot = make_extension(ExtensionCode::delta_snapshot, list({"old"}));
  EXPECT_EQ(replay(channel, std::nullopt, {list({1}), list({2})}), list({1, 2}));
  EXPECT_EQ(replay(channel, snapshot, {list({1})}), list({"old", 1}));
  EXPECT_EQ(replay(channel, list({"plain"}), {list({1})}), list({"plain", 1}));
  EXPECT_EQ(replay(channel, snapshot, {}), list({"old"}));
}

TEST(DeltaChannel, AnOverwriteStartsAnew) {
  const ChannelPtr made = delta(join, list({0}));
  Probe channel(made);
  channel.update({list({1}), Overwrite{list({"new"})}});
  EXPECT_EQ(channel.show(), R"(["new"])");
  channel.update({Overwrite{nullptr}});
  EXPECT_EQ(channel.show(), "[0]");
  EXPECT_EQ(replay(made, std::nullopt, {list({1}), Overwrite{list({"new"})}, list({2})}),
            list({"new", 2}));
  EXPECT_EQ(error_text<InvalidUpdateError>(
                [&] { channel.update({Overwrite{list()}, Overwrite{list()}}); }),
            "channel 'c' received two Overwrites in one step; only one can win");
}

TEST(DeltaChannel, AReducedChannelReadsWhatItOnceStored) {
  const ChannelPtr channel = reduced(append, list());
  const Value snapshot = make_extension(ExtensionCode::delta_snapshot, list({"old"}));
  EXPECT_EQ(channel->load(snapshot).value, list({"old"}));
  EXPECT_EQ(replay(channel, snapshot, {list({1}), list({2})}), list({"old", 1, 2}));
}

TEST(DeltaChannel, AnErrorOfTheReducerNamesTheChannel) {
  Probe channel(delta(join));
  const std::string text = error_text<ReducerTypeError>([&] { channel.update({5}); });
  EXPECT_TRUE(text.starts_with("channel 'c': ")) << text;
}

TEST(DeltaChannel, NeedsSnapshotsNowAndThen) {
  EXPECT_EQ(error_text<GraphError>([] { delta(join, list(), 0); }),
            "snapshot_frequency must be at least 1");
}

}  // namespace
}  // namespace clew
