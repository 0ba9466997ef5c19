#include "store/operations.hpp"

#include <limits>

#include <gtest/gtest.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>

namespace clew::store {
namespace {

using std::chrono::milliseconds;

TEST(Operations, TheLastPutCountsInThePlaceOfTheFirst) {
  const StoreOp ops[] = {PutOp{{"a"}, "1", {{"v", 1}}}, PutOp{{"b"}, "1", {{"v", 2}}},
                         GetOp{{"a"}, "1"}, PutOp{{"a"}, "1", {{"v", 3}}}};
  std::string text;
  for (const PutOp* put : last_puts(ops))
    text += std::string(put->namespace_[0]) + to_json(put->value);
  EXPECT_EQ(text, R"(a{"v":3}b{"v":2})");
}

TEST(Operations, SumsStayWhereTheyAreTooLarge) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(sum(2, 3), 5U);
  EXPECT_EQ(sum(2, kMost), kMost);
  EXPECT_EQ(sum(kMost, kMost), kMost);
}

TEST(Operations, ItemsWithoutAScoreComeBehindAllScores) {
  const SearchCursor low{-static_cast<double>(std::numeric_limits<float>::max()), 9};
  const SearchCursor first{unscored_rank(0), 5};
  const SearchCursor second{unscored_rank(1), 1};
  const SearchCursor last{unscored_rank((std::int64_t{1} << 53) - 1), 1};
  EXPECT_TRUE(is_behind(first, low));
  EXPECT_TRUE(is_behind(second, first));
  EXPECT_TRUE(is_behind(last, second));
  EXPECT_TRUE(is_behind(last, {unscored_rank((std::int64_t{1} << 53) - 2), 1}));
  EXPECT_FALSE(is_behind(first, first));
  EXPECT_TRUE(is_behind({unscored_rank(0), 6}, first));
}

TEST(Operations, TheTimeToLiveIsThatOfTheItemOrOfTheStore) {
  const StoreTtl ttl{.default_ttl = milliseconds(5)};
  EXPECT_EQ(ttl_of({}, ttl), milliseconds(5));
  EXPECT_EQ(ttl_of({.ttl = milliseconds(7)}, ttl), milliseconds(7));
  EXPECT_EQ(ttl_of({.ttl = kNoTtl}, ttl), std::nullopt);
  EXPECT_EQ(ttl_of({}, StoreTtl{}), std::nullopt);
  EXPECT_EQ(ttl_of({}, std::nullopt), std::nullopt);
  EXPECT_NO_THROW(check_ttl({.ttl = milliseconds(7)}, ttl));
  EXPECT_NO_THROW(check_ttl({.ttl = kNoTtl}, std::nullopt));
  EXPECT_THROW(check_ttl({.ttl = milliseconds(7)}, std::nullopt), BadArgumentError);
}

TEST(Operations, ReadsRefreshAsTheyOrTheStoreSay) {
  EXPECT_TRUE(is_refreshed({}, StoreTtl{}));
  EXPECT_FALSE(is_refreshed(false, StoreTtl{}));
  EXPECT_FALSE(is_refreshed({}, StoreTtl{.refresh_on_read = false}));
  EXPECT_TRUE(is_refreshed(true, StoreTtl{.refresh_on_read = false}));
  EXPECT_FALSE(is_refreshed(true, std::nullopt));
}

TEST(Operations, AnItemThatLivesVeryLongEndsWithTime) {
  const Item::Time time = now();
  EXPECT_EQ(expiry(time, milliseconds(3)), time + milliseconds(3));
  EXPECT_EQ(expiry(time, milliseconds::max() - milliseconds(1)), Item::Time::max());
  EXPECT_EQ(expiry(time, milliseconds(-3)), time - milliseconds(3));
}

TEST(Operations, NamespacesAreListedOnce) {
  const ListNamespacesOptions options{.max_depth = 1, .limit = 2, .offset = 1};
  NamespaceList listed(options);
  for (const StoreNamespace& ns :
       {StoreNamespace{"a", "x"}, {"a", "y"}, {"b"}, {"b", "z"}, {"c"}, {"d"}}) {
    listed.add(ns);
  }
  EXPECT_TRUE(listed.is_full());
  EXPECT_EQ(std::move(listed).take(), (std::vector<StoreNamespace>{{"b"}, {"c"}}));
}

}  // namespace
}  // namespace clew::store
