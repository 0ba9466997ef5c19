#include <clew/uuid.hpp>

#include <unordered_set>

#include <gtest/gtest.h>

#include <clew/error.hpp>

namespace clew {
namespace {

constexpr const char* kText = "1ef4f797-8335-6428-8001-8a1503f9b875";

TEST(Uuid, ReadsBothSpellingsAndWritesLowerCase) {
  const Uuid id = Uuid::parse(kText);
  EXPECT_EQ(id.to_string(), kText);
  EXPECT_EQ(id.hex(),
            "1ef4f797833564288001"
            "8a1503f9b875");
  EXPECT_EQ(Uuid::parse(id.hex()), id);
  EXPECT_EQ(Uuid::parse("1EF4F797-8335-6428-8001-8A1503F9B875"), id);
  EXPECT_EQ(id.bytes().front(), 0x1e);
  EXPECT_EQ(id.bytes().back(), 0x75);
}

TEST(Uuid, AcceptsAnyVersionAndVariant) {
  for (const char* text :
       {"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "f5a43607-7ad2-e125-0213-942900000000"}) {
    EXPECT_EQ(Uuid::parse(text).to_string(), text);
  }
}

TEST(Uuid, RefusesEverythingElse) {
  for (const char* text :
       {"", "1", "1ef4f797-8335-6428-8001-8a1503f9b87", "1ef4f797-8335-6428-8001-8a1503f9b8755",
        "1ef4f797-8335-6428-80018-a1503f9b875", "1ef4f797 8335 6428 8001 8a1503f9b875",
        "1ef4f79783356428-8001-8a1503f9b87500", "gef4f797-8335-6428-8001-8a1503f9b875",
        "1ef4f797-8335-6428-8001-8a1503f9b87-", "+ef4f79783356428800118a1503f9b87",
        "{1ef4f797-8335-6428-8001-8a1503f9b875}"}) {
    EXPECT_THROW(Uuid::parse(text), ValueError) << text;
  }
}

TEST(Uuid, ErrorNamesTheTextAndTheForm) {
  try {
    Uuid::parse("abc");
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(),
                 "'abc' is not a UUID; expected 32 hexadecimal digits, with dashes as in "
                 "1ef4f797-8335-6428-8001-8a1503f9b875 or without any");
  }
}

TEST(Uuid, ErrorShowsOnlyTheStartOfALongText) {
  try {
    Uuid::parse(std::string(100'000, 'z'));
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_LT(error.reason().size(), 300u);
  }
}

TEST(Uuid, OrderIsTheOrderOfItsText) {
  const char* sorted[] = {
      "00000000-0000-0000-0000-000000000000", "1ef4f797-8335-6428-8001-8a1503f9b875",
      "1ef4f797-8335-6428-bffe-8a1503f9b875", "1ef4f797-8335-6429-8001-000000000000",
      "ff000000-0000-0000-0000-000000000000"};
  for (std::size_t i = 0; i + 1 < std::size(sorted); ++i) {
    EXPECT_LT(Uuid::parse(sorted[i]), Uuid::parse(sorted[i + 1])) << sorted[i];
  }
}

TEST(Uuid, IsUsableAtCompileTime) {
  constexpr Uuid nil;
  constexpr Uuid one = uuid6(1, 2, 3);
  static_assert(nil < one && nil != one);
  static_assert(one.bytes()[15] == 2);
}

TEST(Uuid, HashesIdsMadeInARowApart) {
  std::unordered_set<std::size_t> hashes;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    hashes.insert(std::hash<Uuid>()(uuid6(uuid_ticks(1763239302000000000) + i, 7, 0)));
  }
  EXPECT_EQ(hashes.size(), 1000u);
}

TEST(Uuid5, EqualsPython) {
  const Uuid dns = Uuid::parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8");
  EXPECT_EQ(uuid5(dns, "python.org").to_string(), "886313e1-3b8a-5372-9b90-0c9aee199e5d");
  EXPECT_EQ(uuid5(Uuid::parse(kText), "__input__").to_string(),
            "4e071109-2c36-539d-b060-078d7ab19805");
  EXPECT_EQ(uuid5(Uuid::parse(kText), "__interrupt__:12").to_string(),
            "d9691d95-810b-55c3-8101-708a2984d9c4");
}

TEST(Uuid6, EqualsLangGraph) {
  EXPECT_EQ(uuid6_from(1722456859804150123, 0x8A1503F9B875, 1).to_string(),
            "1ef4f797-8335-639d-8001-8a1503f9b875");
  EXPECT_EQ(uuid6_from(1722456859804150123, 0x8A1503F9B875, -2).to_string(),
            "1ef4f797-8335-639d-bffe-8a1503f9b875");
  EXPECT_EQ(uuid6_from(0, 0, 0).to_string(), "1b21dd21-3814-6000-8000-000000000000");
  EXPECT_EQ(uuid6_from(1, 0xFFFFFFFFFFFF, -1).to_string(), "1b21dd21-3814-6000-bfff-ffffffffffff");
  EXPECT_EQ(uuid6_from(1763239302000000099, 0x0123456789AB, 16384).to_string(),
            "1f0c2637-e008-6700-8000-0123456789ab");
  EXPECT_EQ(uuid6_from(4102444800000000000, 2, 100).to_string(),
            "243dd56b-5a6c-6000-8064-000000000002");
}

TEST(Uuid6, IgnoresNodeBitsBeyond48) {
  EXPECT_EQ(uuid6(5, ~std::uint64_t{0}, 0), uuid6(5, 0xFFFF'FFFF'FFFF, 0));
}

TEST(UuidTicks, RoundsDownAlsoBefore1970) {
  EXPECT_EQ(uuid_ticks(0), 0x01B21DD213814000u);
  EXPECT_EQ(uuid_ticks(199), uuid_ticks(0) + 1);
  EXPECT_EQ(uuid_ticks(-1), uuid_ticks(0) - 1);
  EXPECT_EQ(uuid_ticks(-100), uuid_ticks(0) - 1);
  EXPECT_EQ(uuid_ticks(-101), uuid_ticks(0) - 2);
}

}  // namespace
}  // namespace clew
