// Differences between versions, and the chains they make.
#include "checkpoint/sqlite/version_chain.hpp"

#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "checkpoint/sqlite/checkpoint_patch.hpp"
#include "checkpoint/sqlite/value_patch.hpp"

namespace clew::sqlite {
namespace {

std::string patched(const Value& older, const Value& newer) {
  const auto patch = make_patch(older, newer);
  if (!patch) return "none";
  EXPECT_EQ(to_json(apply_patch(older, *patch)), to_json(newer));
  return to_json(*patch);
}

Value numbers(int count) {
  ListBuilder builder;
  for (int i = 0; i < count; ++i) builder.push_back(i);
  return std::move(builder).build();
}

TEST(ValuePatch, AListKeepsItsBeginning) {
  const Value five = numbers(5);
  EXPECT_EQ(patched(five, five.append("x")), R"(["list",5,["x"],[]])");
  EXPECT_EQ(patched(five, five.set(3, "x")), R"(["list",5,[],[[3,"x"]]])");
  EXPECT_EQ(patched(five, five.slice(0, 2)), R"(["list",2,[],[]])");
  EXPECT_EQ(patched(five, Value{9, 8, 7, 6, 5}), "none");
  EXPECT_EQ(patched(list(), five), "none");
}

TEST(ValuePatch, AnObjectKeepsItsOtherEntriesInTheirOrder) {
  const Value older{{"a", 1}, {"b", {{"x", 1}, {"y", 2}}}, {"c", 3}};
  EXPECT_EQ(patched(older, older.set("a", 2).set("d", 4).erase("c")),
            R"(["object",{"a":2,"d":4},{},["c"]])");
  EXPECT_EQ(patched(older, older.set("b", older["b"].set("y", 5))),
            R"(["object",{},{"b":["object",{"y":5},{},[]]},[]])");
  EXPECT_EQ(patched(older, older.erase("a").set("a", 1)), "none");
}

TEST(ValuePatch, EqualPartsThatAreNotSharedAreNoChange) {
  const Value older = parse_json(R"([{"text": "a rather long text"}, {"n": [1, 2, 3]}])");
  const Value newer = parse_json(R"([{"text": "a rather long text"}, {"n": [1, 2, 3]}, 4])");
  EXPECT_EQ(patched(older, newer), R"(["list",2,[4],[]])");
}

TEST(ValuePatch, RefusesWhatDoesNotFit) {
  for (const char* patch : {R"(null)", R"(["list"])", R"(["list",9,[],[]])", R"(["list",-1,[],[]])",
                            R"(["list",1,[],[[1,0]]])", R"(["list",1,[],[[0]]])",
                            R"(["list",1,2,[]])", R"(["object",{},{},[]])", R"(["what",1,2,3])"}) {
    EXPECT_THROW(apply_patch(numbers(3), parse_json(patch)), SerdeError) << patch;
  }
  EXPECT_THROW(apply_patch(object(), parse_json(R"(["object",{},{"x":["list",0,[],[]]},[]])")),
               SerdeError);
}

// Checkpoints ---------------------------------------------------------------------

// After the node `n1` has run.
Value checkpoint() {
  return parse_json(R"({"v": 4, "ts": "t1", "channel_versions": {"a": "1", "b": "2", "to:n1": "2"},
      "versions_seen": {"__input__": {}, "n1": {"to:n1": "1"}}, "updated_channels": ["b", "to:n1"],
      "triggers": {"to:n1": null}, "origins": {"a": "c0"}})");
}

// One step later, in which `n1` has run again and woken `n2`.
Value next_checkpoint() {
  return parse_json(R"({"v": 4, "ts": "t2",
      "channel_versions": {"a": "1", "b": "3", "to:n1": "3", "to:n2": "3"},
      "versions_seen": {"__input__": {}, "n1": {"to:n1": "2"}}, "updated_channels": ["b", "to:n2"],
      "triggers": {"to:n2": null}, "origins": {"a": "c0"}})");
}

std::string patched_checkpoint(const Value& older, const Value& newer) {
  const auto patch = make_checkpoint_patch(older, newer);
  if (!patch) return "none";
  EXPECT_EQ(to_json(apply_checkpoint_patch(older, *patch)), to_json(newer));
  return to_json(*patch);
}

TEST(CheckpointPatch, AStepIsAVersionAndTheNamesThatHaveIt) {
  EXPECT_EQ(patched_checkpoint(checkpoint(), next_checkpoint()),
            R"(["step","t2","3",["b","to:n1","to:n2"],{"n1":["to:n1"]},[0,2],{"to:n2":null},{}])");
}

TEST(CheckpointPatch, NodesRunForTheFirstTimeAndValuesComeFromElsewhere) {
  Value next = next_checkpoint();
  next = next.set("versions_seen",
                  next["versions_seen"].set("n2", object({{"b", "2"}})).set("n3", object()));
  next = next.set("origins", object({{"a", "c0"}, {"b", "c1"}}))
             .set("updated_channels", list({"elsewhere", "b"}));
  EXPECT_EQ(patched_checkpoint(checkpoint(), next),
            R"(["step","t2","3",["b","to:n1","to:n2"],)"
            R"({"n1":["to:n1"],"n2":["b"],"n3":[]},["elsewhere",0],{"to:n2":null},{"b":"c1"}])");
  EXPECT_EQ(patched_checkpoint(checkpoint(), checkpoint().set("updated_channels", Value())),
            R"(["step","t1",null,[],{},null,{"to:n1":null},{}])");
}

// They are patched as any value is.
TEST(CheckpointPatch, WhatIsNoStepIsPatchedAllTheSame) {
  const Value older = checkpoint();
  const Value next = next_checkpoint();
  const auto with = [&](std::string_view key, std::string_view json) {
    return next.set(key, parse_json(json));
  };
  const Value others[] = {
      with("v", "5"),
      with("channel_versions", R"({"a": "9", "b": "3", "to:n1": "2"})"),    // two versions
      with("channel_versions", R"({"a": "1", "b": "3"})"),                  // one is gone
      with("channel_versions", R"({"to:n1": "3", "b": "3", "a": "1"})"),    // another order
      with("versions_seen", R"({"__input__": {}, "n1": {"to:n1": "7"}})"),  // from where?
      with("versions_seen", R"({"n1": {"to:n1": "2"}})"),
      with("updated_channels", R"([1])"),
      with("origins", "{}"),
      with("origins", "null"),
      next.set("more", 1),
  };
  for (const Value& newer : others) {
    EXPECT_THAT(patched_checkpoint(older, newer), testing::StartsWith(R"(["object")")) << newer;
  }
}

TEST(CheckpointPatch, ManyChannelsKeepTheirNames) {
  Value versions = object();
  for (int i = 0; i < 40; ++i) versions = versions.set("c" + std::to_string(i), "3");
  const Value next =
      next_checkpoint().set("channel_versions", checkpoint()["channel_versions"].merge(versions));
  EXPECT_THAT(patched_checkpoint(checkpoint(), next), testing::HasSubstr(R"(["b","to:n2"])"));
}

// As a serializer may give it back.
TEST(CheckpointPatch, AStepFitsWhateverTheOrderOfTheBaseIs) {
  const Value step = *make_checkpoint_patch(checkpoint(), next_checkpoint());
  const Value base = checkpoint().erase("v").set("v", 4);
  EXPECT_EQ(apply_checkpoint_patch(base, step), next_checkpoint());
}

TEST(CheckpointPatch, RefusesWhatDoesNotFit) {
  for (const char* patch :
       {R"(["step"])", R"(["step","t","3",["b"],{},[1],{},{}])",
        R"(["step","t","3",[1],{},[],{},{}])", R"(["step","t","3",[],{"n1":["x"]},[],{},{}])",
        R"(["step","t","3",[],{"n1":1},[],{},{}])", R"(["step","t","3",{},{},[],{},{}])",
        R"(["step","t","3",[],{},[{}],{},{}])", R"(["step","t","3",[],{},[-1],{},{}])",
        R"(["step","t","3",[],{},[],{},[]])"}) {
    EXPECT_THROW(apply_checkpoint_patch(checkpoint(), parse_json(patch)), SerdeError) << patch;
  }
  const Value step = *make_checkpoint_patch(checkpoint(), next_checkpoint());
  EXPECT_THROW(apply_checkpoint_patch(object(), step), SerdeError);
  EXPECT_THROW(apply_checkpoint_patch(checkpoint().erase("v"), step), SerdeError);
  EXPECT_THROW(apply_patch(checkpoint(), step), SerdeError);
}

// Stores versions as rows and reads them back as a file would.
class Rows {
 public:
  void add(const Value& value) {
    const std::string version = std::to_string(values_.size());
    rows_.push_back(chain_.add(Value(version), value, Value(), serializer_));
    values_.push_back(value);
    bytes_ += rows_.back().data.bytes.size();
  }

  // Reads a version; returns how many rows that took.
  std::size_t read(std::size_t version, VersionChain& chain) const {
    std::vector<std::size_t> path{version};
    while (!rows_[path.back()].base.is_null()) {
      path.push_back(std::stoul(std::string(rows_[path.back()].base.as_string())));
    }
    chain = {};
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      const StoredVersion& row = rows_[*step];
      const Value stored = serializer_.loads_typed(row.data);
      const Value value = row.base.is_null() ? stored : apply_patch(chain.value(), stored);
      chain.load(Value(std::to_string(*step)), row.place, value, Value(), row.data.bytes.size());
    }
    return path.size();
  }

  void continue_from(VersionChain chain) { chain_ = std::move(chain); }

  const std::vector<Value>& values() const { return values_; }
  std::size_t bytes() const { return bytes_; }

 private:
  JsonPlusSerializer serializer_;
  VersionChain chain_;
  std::vector<StoredVersion> rows_;
  std::vector<Value> values_;
  std::size_t bytes_ = 0;
};

TEST(VersionChain, TakesSpaceInProportionToWhatWasSaidAndReadsFewRows) {
  const std::string text(500, 'x');
  Rows rows;
  Value messages = list();
  const int count = 5000;
  for (int i = 0; i < count; ++i) {
    messages = messages.append(text + std::to_string(i));
    rows.add(messages);
  }
  EXPECT_LT(rows.bytes(), 3U * 510 * count);
  VersionChain chain;
  std::size_t most = 0;
  for (std::size_t version = 0; version < rows.values().size(); version += 97) {
    most = std::max(most, rows.read(version, chain));
    ASSERT_EQ(chain.value(), rows.values()[version]);
  }
  EXPECT_LE(most, 64U * 3);
}

TEST(VersionChain, AnyEditsAndForksReadBackAsTheyWere) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return random() % n; };
  for (int round = 0; round < 20; ++round) {
    Rows rows;
    Value value = object({{"log", numbers(50)}, {"note", std::string(2000, 'n')}});
    for (int i = 0; i < 300; ++i) {
      const Value log = value["log"];
      switch (below(6)) {
        case 0: value = value.set("log", log.append(i)); break;
        case 1: value = value.set("log", log.set(below(log.size()), i)); break;
        case 2: value = value.set("log", log.slice(0, 1 + below(log.size()))); break;
        case 3: value = value.set("k" + std::to_string(below(5)), i); break;
        case 4: value = value.erase("k" + std::to_string(below(5))); break;
        default: {
          VersionChain chain;
          if (rows.values().empty()) break;
          rows.read(below(rows.values().size()), chain);
          value = chain.value();
          rows.continue_from(std::move(chain));
        }
      }
      rows.add(value);
    }
    VersionChain chain;
    for (std::size_t version = 0; version < rows.values().size(); ++version) {
      rows.read(version, chain);
      ASSERT_EQ(to_json(chain.value()), to_json(rows.values()[version])) << round << " " << version;
    }
  }
}

}  // namespace
}  // namespace clew::sqlite
