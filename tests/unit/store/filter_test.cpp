#include "store/filter.hpp"

#include <gtest/gtest.h>

namespace clew::store {
namespace {

const Value kItem{{"n", 2},          {"s", "10"},        {"flag", true},
                  {"none", nullptr}, {"list", {1, "a"}}, {"o", {{"x", 1}, {"y", {{"z", 2}}}}}};

TEST(Filter, NoFilterMatchesAll) {
  EXPECT_TRUE(matches(kItem, nullptr));
  EXPECT_TRUE(matches(kItem, object()));
}

TEST(Filter, NumbersAndBooleansAreEqualByAmount) {
  EXPECT_TRUE(matches(kItem, {{"n", 2.0}}));
  EXPECT_TRUE(matches(kItem, {{"flag", 1}}));
  EXPECT_FALSE(matches(kItem, {{"n", "2"}}));
  EXPECT_FALSE(matches(kItem, {{"n", 3}}));
}

TEST(Filter, NullIsAlsoWhatIsNotThere) {
  EXPECT_TRUE(matches(kItem, {{"none", nullptr}}));
  EXPECT_TRUE(matches(kItem, {{"missing", nullptr}}));
  EXPECT_FALSE(matches(kItem, {{"n", nullptr}}));
}

TEST(Filter, ObjectsMatchInPart) {
  EXPECT_TRUE(matches(kItem, {{"o", {{"x", 1}}}}));
  EXPECT_TRUE(matches(kItem, {{"o", {{"y", {{"z", 2}}}}}}));
  EXPECT_TRUE(matches(kItem, {{"o", {{"y", {{"z", {{"$gt", 1}}}}}}}}));
  EXPECT_FALSE(matches(kItem, {{"o", {{"y", {{"z", 3}}}}}}));
  EXPECT_FALSE(matches(kItem, {{"n", {{"x", 1}}}}));
}

TEST(Filter, ListsMatchElementByElement) {
  EXPECT_TRUE(matches(kItem, {{"list", list({1.0, "a"})}}));
  EXPECT_FALSE(matches(kItem, {{"list", list({1})}}));
  EXPECT_FALSE(matches(kItem, {{"n", list({2})}}));
}

TEST(Filter, OrderIsOfNumbersAndOfTextsThatAreNumbers) {
  EXPECT_TRUE(matches(kItem, {{"n", {{"$gt", 1}, {"$lte", 2}}}}));
  EXPECT_FALSE(matches(kItem, {{"n", {{"$gt", 1}, {"$lt", 2}}}}));
  EXPECT_TRUE(matches(kItem, {{"s", {{"$gt", 9}}}}));
  EXPECT_TRUE(matches(kItem, {{"s", {{"$gte", " +1e1 "}}}}));
  EXPECT_TRUE(matches(kItem, {{"n", {{"$lt", Value::integer("99999999999999999999")}}}}));
  EXPECT_TRUE(matches(kItem, {{"flag", {{"$gte", 1}}}}));
}

TEST(Filter, OrderOfAnythingElseIsAnError) {
  EXPECT_THROW(matches(kItem, {{"missing", {{"$gt", 1}}}}), ValueError);
  EXPECT_THROW(matches(kItem, {{"list", {{"$gt", 1}}}}), ValueError);
  EXPECT_THROW(matches(kItem, {{"s", {{"$lt", "ten"}}}}), ValueError);
  EXPECT_THROW(matches(kItem, {{"s", {{"$lt", "0x10"}}}}), ValueError);
  EXPECT_THROW(matches(kItem, {{"s", {{"$lt", ""}}}}), ValueError);
  EXPECT_THROW(matches(kItem, {{"n", {{"$in", list({2})}}}}), ValueError);
  EXPECT_THROW(matches(kItem, {{"n", {{"$eq", 2}, {"plain", 1}}}}), ValueError);
}

TEST(Filter, EqualAndUnequalTakeAnything) {
  EXPECT_TRUE(matches(kItem, {{"s", {{"$ne", 10}}}}));
  EXPECT_TRUE(matches(kItem, {{"missing", {{"$ne", 1}}}}));
  EXPECT_TRUE(matches(kItem, {{"o", {{"$eq", {{"y", {{"z", 2}}}, {"x", 1}}}}}}));
  EXPECT_FALSE(matches(kItem, {{"o", {{"$eq", {{"x", 1}}}}}}));
}

TEST(Filter, InSqlOrderIsOfLikeThings) {
  const auto sql = [](const Value& filter) { return matches(kItem, filter, FilterMeaning::sql); };
  EXPECT_TRUE(sql({{"n", {{"$gt", 1}, {"$lte", 2}}}}));
  EXPECT_TRUE(sql({{"s", {{"$gt", 9}}}}));
  EXPECT_TRUE(sql({{"s", {{"$gte", "1"}, {"$lt", "2"}}}}));
  EXPECT_FALSE(sql({{"s", {{"$gt", "9"}}}}));
  for (const char* name : {"$gt", "$gte", "$lt", "$lte"}) {
    EXPECT_FALSE(sql({{"n", object({{name, "1"}})}})) << name;
    EXPECT_FALSE(sql({{"missing", object({{name, 1}})}})) << name;
    EXPECT_FALSE(sql({{"list", object({{name, 1}})}})) << name;
  }
  EXPECT_THROW(sql({{"n", {{"$in", list({2})}}}}), ValueError);
}

TEST(Filter, InSqlWhatIsNotThereIsNotUnequal) {
  EXPECT_TRUE(matches(kItem, {{"missing", {{"$ne", 1}}}}));
  EXPECT_FALSE(matches(kItem, {{"missing", {{"$ne", 1}}}}, FilterMeaning::sql));
  EXPECT_FALSE(matches(kItem, {{"none", {{"$ne", 1}}}}, FilterMeaning::sql));
  EXPECT_TRUE(matches(kItem, {{"n", {{"$ne", 1}}}}, FilterMeaning::sql));
  EXPECT_TRUE(matches(kItem, {{"missing", nullptr}}, FilterMeaning::sql));
  EXPECT_TRUE(matches(kItem, {{"flag", 1}}, FilterMeaning::sql));
  EXPECT_TRUE(matches(kItem, {{"o", {{"x", 1}}}}, FilterMeaning::sql));
}

TEST(Filter, InSqlAKeyMayBeAPath) {
  EXPECT_FALSE(matches(kItem, {{"o.y.z", 2}}));
  EXPECT_TRUE(matches(kItem, {{"o.y.z", 2}}, FilterMeaning::sql));
  EXPECT_FALSE(matches(kItem, {{"o.y.z", 3}}, FilterMeaning::sql));
  EXPECT_TRUE(matches(kItem, {{"o.missing.z", nullptr}}, FilterMeaning::sql));
  EXPECT_TRUE(matches({{"a.b", 1}, {"a", {{"b", 2}}}}, {{"a.b", 1}}, FilterMeaning::sql));
}

}  // namespace
}  // namespace clew::store
