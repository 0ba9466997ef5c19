// Differences between versions, and the chains they make.
#include "checkpoint/sqlite/version_chain.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>

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
