#include "value/vector.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace clew {
namespace {

using Model = std::vector<std::int64_t>;

Value numbers(std::int64_t begin, std::int64_t end) {
  ListBuilder builder;
  for (std::int64_t i = begin; i < end; ++i) builder.push_back(i);
  return std::move(builder).build();
}

Model elements(const Value& list) {
  Model result;
  for (const Value& element : list) result.push_back(element.as_int());
  return result;
}

detail::Vector vector_of(const Value& list) { return detail::vector_of(ValueAccess::node(list)); }

std::multiset<const detail::Leaf*> leaves_of(const Value& list) {
  const detail::Vector vector = vector_of(list);
  std::multiset<const detail::Leaf*> leaves;
  for (std::size_t i = 0; i < vector.size;) {
    const auto [leaf, offset] = vector.place_of(i);
    leaves.insert(leaf);
    i += leaf->count - offset;
  }
  return leaves;
}

std::size_t count_shared_leaves(const Value& a, const Value& b) {
  const auto leaves = leaves_of(b);
  std::size_t shared = 0;
  for (const detail::Leaf* leaf : leaves_of(a)) shared += leaves.count(leaf) > 0 ? 1 : 0;
  return shared;
}

// The number of the first element that is not where an index leads, or -1.
std::int64_t first_lost(const Value& list, const Model& model) {
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (list[i].as_int() != model[i]) return static_cast<std::int64_t>(i);
  }
  return -1;
}

TEST(Vector, JoinedListsShareTheirLeaves) {
  const Value left = numbers(0, 1000 + 7);
  const Value right = numbers(0, 2000 + 3);
  const Value joined = left.concat(right);
  EXPECT_EQ(joined.size(), 3010U);
  // All of the left but its tail; of the right all but the leaf where they meet.
  EXPECT_EQ(count_shared_leaves(left, joined), 31U);
  EXPECT_EQ(count_shared_leaves(right, joined), 62U);
}

TEST(Vector, ACutListSharesItsLeaves) {
  const Value whole = numbers(0, 3000);
  EXPECT_EQ(count_shared_leaves(whole.slice(20, 2990), whole), 91U);
  EXPECT_EQ(count_shared_leaves(whole.erase(1), whole), 93U);
}

TEST(Vector, LeavesOfTheTreeStayHalfFull) {
  Value list = numbers(0, 33);
  for (std::int64_t i = 0; i < 200; ++i) list = list.erase(7).concat(numbers(0, 33 + i % 5));
  const std::size_t most = list.size() / 16 + 1;
  EXPECT_LE(leaves_of(list).size(), most);
  for (std::int64_t i = 0; i < 200; ++i) list = list.append(i);
  EXPECT_LE(leaves_of(list).size(), most + 200 / 32 + 1);
}

TEST(Vector, ASharedTailIsNotWrittenTo) {
  const Value right = numbers(0, 40);
  Value joined = numbers(0, 32).concat(right);
  for (int i = 0; i < 100; ++i) joined = std::move(joined).append(i);
  EXPECT_EQ(elements(right), elements(numbers(0, 40)));
  EXPECT_EQ(joined.size(), 172U);
  Value cut = joined.slice(0, 100);
  const Value kept = cut;
  for (int i = 0; i < 100; ++i) cut = std::move(cut).append(-1);
  EXPECT_EQ(elements(kept), elements(joined.slice(0, 100)));
  EXPECT_EQ(cut.size(), 200U);
}

TEST(Vector, DifferenceStepsOverWhatJoinedListsShare) {
  const Value joined = numbers(0, 1007).concat(numbers(0, 40'000)).concat(numbers(0, 77));
  EXPECT_EQ(difference(joined, joined.append(1)).kept, joined.size());
  const Value edited = joined.set(1500, -1).set(40'900, -1);
  EXPECT_EQ(difference(joined, edited).changed, (std::vector<std::size_t>{1500, 40'900}));
  // The same elements in other leaves.
  const Value rebuilt = numbers(0, 1007).concat(numbers(0, 20'000)).concat(numbers(20'000, 40'000));
  EXPECT_TRUE(difference(joined, rebuilt).changed.empty());
}

// Many lists that are made from each other, beside std::vectors.
TEST(Vector, RandomHistoriesAgreeWithAStandardVector) {
  std::mt19937 random(7);
  const auto below = [&random](std::size_t limit) {
    return limit == 0 ? std::size_t{0} : static_cast<std::size_t>(random()) % limit;
  };
  std::vector<std::pair<Value, Model>> pool(8, {list(), {}});
  std::int64_t next = 0;
  for (int round = 0; round < 6000; ++round) {
    const auto [value, model] = pool[below(pool.size())];
    auto& [result, expected] = pool[below(pool.size())];
    const auto at = [](Model& elements, std::size_t i) {
      return elements.begin() + static_cast<std::ptrdiff_t>(i);
    };
    switch (below(6)) {
      case 0: {  // grow by single elements
        Value longer = value;
        Model more = model;
        for (std::size_t i = below(100); i > 0; --i) {
          longer = std::move(longer).append(next);
          more.push_back(next++);
        }
        result = longer, expected = more;
        break;
      }
      case 1:
      case 2: {  // join
        const auto [other, other_model] = pool[below(pool.size())];
        if (model.size() + other_model.size() > 60'000) break;
        result = value.concat(other), expected = model;
        expected.insert(expected.end(), other_model.begin(), other_model.end());
        break;
      }
      case 3: {  // cut
        const std::size_t begin = below(model.size() + 1);
        const std::size_t end = begin + below(model.size() - begin + 1);
        Model part = model;
        result = value.slice(begin, end), expected.assign(at(part, begin), at(part, end));
        break;
      }
      case 4: {  // replace
        if (model.empty()) break;
        const std::size_t i = below(model.size());
        result = value.set(i, next), expected = model;
        expected[i] = next++;
        break;
      }
      case 5: {  // drop one
        if (model.empty()) break;
        const std::size_t i = below(model.size());
        result = value.erase(i), expected = model;
        expected.erase(at(expected, i));
        break;
      }
    }
    ASSERT_EQ(result.size(), expected.size()) << "round " << round;
    if (round % 10 != 0) continue;
    ASSERT_EQ(elements(result), expected) << "round " << round;
    ASSERT_EQ(first_lost(result, expected), -1) << "round " << round;
    ASSERT_EQ(difference(result, result.append(0)).kept, expected.size()) << "round " << round;
  }
}

}  // namespace
}  // namespace clew
