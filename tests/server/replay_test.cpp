#include "server/replay.hpp"

#include <gtest/gtest.h>

namespace clew::server {
namespace {

Event told(const char* source, const char* data) {
  Event event;
  event.source = source;
  event.name = "custom";
  event.data = data;
  return event;
}

Event made(const char* ns, const char* checkpoint_id, int step) {
  Event event = told(ns, "");
  event.kind = EventKind::checkpoint;
  event.name = checkpoint_id;
  event.data = std::to_string(step);
  return event;
}

// What is news when `source` tells these, one after the other.
std::string tell(ReplayedEvents& replayed, const char* source, std::vector<std::string> all) {
  std::string news;
  for (const std::string& data : all) {
    NewEvent event{EventKind::run, "custom", data};
    event.source = source;
    for (const NewEvent& kept : replayed.filter(source, {event})) news += kept.data + " ";
  }
  return news;
}

TEST(Replay, TasksMayComeInAnotherOrder) {
  ReplayedEvents replayed({told("a", "1"), told("b", "1"), told("a", "2")});
  EXPECT_EQ(tell(replayed, "b", {"1"}), "");
  EXPECT_EQ(tell(replayed, "a", {"1", "2", "3"}), "3 ");
  EXPECT_EQ(tell(replayed, "b", {"2"}), "2 ");
  EXPECT_EQ(tell(replayed, "c", {"1"}), "1 ");
}

TEST(Replay, ATaskThatTellsSomethingElseIsHeardFromThenOn) {
  ReplayedEvents replayed({told("a", "1"), told("a", "2"), told("b", "1")});
  EXPECT_EQ(tell(replayed, "a", {"1", "other", "2"}), "other 2 ");
  EXPECT_EQ(tell(replayed, "b", {"1"}), "");
}

TEST(Replay, AttemptsAndTimesMakeNoDifference) {
  ReplayedEvents replayed({told("a", R"([{},{"run_attempt":1,"x":1}])"),
                           told("a", R"({"step":1,"timestamp":"12:00","type":"task"})")});
  EXPECT_EQ(tell(replayed, "a", {R"([{},{"run_attempt":12,"x":1}])"}), "");
  EXPECT_EQ(tell(replayed, "a", {R"({"step":1,"timestamp":"13:00","type":"task"})"}), "");
}

TEST(Replay, CheckpointsGetTheirIdsAgain) {
  ReplayedEvents replayed(
      {told("", "0"), made("", "first", 0), told("", "1"), made("", "second", 1)});
  EXPECT_EQ(tell(replayed, "", {"0"}), "");
  EXPECT_EQ(replayed.next_checkpoint("", 0), "first");
  EXPECT_EQ(tell(replayed, "", {"1"}), "");
  EXPECT_EQ(replayed.next_checkpoint("", 1), "second");
  EXPECT_EQ(replayed.next_checkpoint("", 2), std::nullopt);
}

TEST(Replay, AGraphTellsTheStateItGoesOnFrom) {
  ReplayedEvents replayed(
      {told("child:1", "0"), made("child:1", "first", 0), told("child:1", "1")});
  EXPECT_EQ(replayed.subgraphs(), std::vector<std::string>{"child:1"});
  replayed.resume("", "root");
  replayed.resume("child:1", "first");
  EXPECT_EQ(tell(replayed, "", {"root state", "2"}), "2 ");
  EXPECT_EQ(tell(replayed, "child:1", {"0", "1", "2"}), "2 ");
}

}  // namespace
}  // namespace clew::server
