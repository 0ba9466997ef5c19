#include <gtest/gtest.h>

#include <clew/add_messages.hpp>
#include <clew/errors.hpp>
#include <clew/types.hpp>

#include "unit/channels/probe.hpp"
#include "unit/error_text.hpp"

namespace clew {
namespace {

TEST(Reduced, CombinesTheWritesOfAStepInOrder) {
  Probe channel(reduced(append, list()));
  EXPECT_EQ(channel.show(), "[]");
  EXPECT_TRUE(channel.update({list({"a"}), list({"b", "c"})}));
  EXPECT_FALSE(channel.update({}));
  EXPECT_EQ(channel.show(), R"(["a","b","c"])");
  EXPECT_EQ(channel.reloaded().show(), R"(["a","b","c"])");
}

TEST(Reduced, WithoutAnInitialValueTheFirstWriteIsIt) {
  Probe channel(reduced(add));
  EXPECT_EQ(channel.show(), "-");
  EXPECT_EQ(channel.stored(), std::nullopt);
  channel.update({2, 3});
  EXPECT_EQ(channel.show(), "5");
}

TEST(Reduced, AnOverwriteWinsOverTheWritesOfItsStep) {
  Probe channel(reduced(append, list()));
  channel.update({list({1})});
  channel.update({list({2}), Overwrite{list({"new"})}, list({3})});
  EXPECT_EQ(channel.show(), R"(["new"])");
  channel.update({list({4})});
  EXPECT_EQ(channel.show(), R"(["new",4])");
}

TEST(Reduced, TakesAnOverwriteInAllItsForms) {
  for (const Value& form : {Value(Overwrite{7}), object({{"__overwrite__", 7}}),
                            object({{"type", "__overwrite__"}, {"value", 7}})}) {
    Probe channel(reduced(add, 1));
    channel.update({form});
    EXPECT_EQ(channel.show(), "7") << form;
  }
  EXPECT_EQ(overwritten(object({{"__overwrite__", 7}, {"other", 1}})), nullptr);
  EXPECT_EQ(overwritten(object({{"type", "__overwrite__"}})), nullptr);
  EXPECT_EQ(overwritten(7), nullptr);
}

TEST(Reduced, TwoOverwritesContradictEachOther) {
  Probe channel(reduced(append, list()));
  EXPECT_EQ(error_text<InvalidUpdateError>(
                [&] { channel.update({Overwrite{list({1})}, Overwrite{list({2})}}); }),
            "channel 'c' received two Overwrites in one step; only one can win");
}

TEST(Reduced, AnErrorOfTheReducerNamesTheChannel) {
  Probe channel(reduced(add, 1));
  const std::string text = error_text<ReducerTypeError>([&] { channel.update({list({"a"})}); });
  EXPECT_TRUE(text.starts_with("channel 'c': ")) << text;
  EXPECT_NE(text.find("add"), std::string::npos) << text;
}

TEST(Reduced, LeavesWhatTheReducerItselfThrows) {
  Probe channel(reduced(add_messages, list()));
  EXPECT_THROW(channel.update({RemoveMessage{.id = "nobody"}}), MessageNotFoundError);
}

}  // namespace
}  // namespace clew
