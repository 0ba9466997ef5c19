#include "store/word_index.hpp"

#include <cmath>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clew::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Texts = std::vector<std::string>;

std::vector<ItemId> ids(const std::vector<Hit>& hits) {
  std::vector<ItemId> found;
  for (const Hit& hit : hits) found.push_back(hit.id);
  return found;
}

TEST(Words, AreRunsOfLettersAndDigits) {
  EXPECT_THAT(words_of("Hello, World-2! it's"), ElementsAre("hello", "world", "2", "it", "s"));
  EXPECT_THAT(words_of(""), IsEmpty());
  EXPECT_THAT(words_of(" .,-\t\n"), IsEmpty());
  EXPECT_THAT(words_of("abc"), ElementsAre("abc"));
}

TEST(Words, LettersBeyondAsciiStayAsTheyAre) {
  EXPECT_THAT(words_of("Größe «naïve» ΑΒΓ"), ElementsAre("größe", "naïve", "ΑΒΓ"));
  EXPECT_THAT(words_of("a\u2014b\u00a0c\u2026d"), ElementsAre("a", "b", "c", "d"));
}

TEST(Words, CharactersOfScriptsWithoutSpacesAreWords) {
  EXPECT_THAT(words_of("東京tower、カナ"), ElementsAre("東", "京", "tower", "カ", "ナ"));
}

TEST(Words, BytesThatAreNoUtf8Separate) {
  EXPECT_THAT(words_of("a\xFF"
                       "b\xE6\x9D"),
              ElementsAre("a", "b"));
}

TEST(WordIndex, FindsItemsThatHaveAWordOfTheQuery) {
  WordIndex index;
  index.put(1, Texts{"the cat sat", "on the mat"});
  index.put(2, Texts{"a dog"});
  index.put(3, Texts{"the dog and the CAT"});
  EXPECT_THAT(ids(index.search("cat", 10)), ElementsAre(3, 1));
  EXPECT_THAT(ids(index.search("Mat!", 10)), ElementsAre(1));
  EXPECT_THAT(ids(index.search("dog cat", 10)), ElementsAre(3, 2, 1));
  EXPECT_THAT(ids(index.search("dog cat", 1)), ElementsAre(3));
  EXPECT_THAT(index.search("bird", 10), IsEmpty());
  EXPECT_THAT(index.search("", 10), IsEmpty());
  EXPECT_THAT(index.search("cat", 0), IsEmpty());
}

TEST(WordIndex, RareWordsCountMore) {
  WordIndex index;
  for (ItemId id = 0; id < 9; ++id) index.put(id, Texts{"common word"});
  index.put(9, Texts{"rare word"});
  index.put(10, Texts{"common thing"});
  EXPECT_EQ(index.search("common rare", 1).front().id, 9);
}

TEST(WordIndex, ScoresAreThoseOfTheFormula) {
  WordIndex index;
  index.put(1, Texts{"x x y"});
  index.put(2, Texts{"x"});
  const double rarity = std::log(1 + 0.5 / 2.5);
  const std::vector<Hit> found = index.search("x x", 5);  // mean length 2
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id, 2);
  EXPECT_NEAR(found[0].score, rarity * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 0.5)), 1e-12);
  EXPECT_NEAR(found[1].score, rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 1.5)), 1e-12);
}

TEST(WordIndex, ChangesAreReflected) {
  WordIndex index;
  index.put(1, Texts{"old"});
  index.put(1, Texts{"new"});
  EXPECT_THAT(index.search("old", 10), IsEmpty());
  EXPECT_THAT(ids(index.search("new", 10)), ElementsAre(1));
  index.erase(1);
  index.erase(1);
  EXPECT_THAT(index.search("new", 10), IsEmpty());
  index.put(2, Texts{});
  EXPECT_THAT(index.search("new", 10), IsEmpty());
}

TEST(WordIndex, AfterManyChangesItIsAsIfMadeAnew) {
  std::mt19937 random(5);
  const auto text = [&] {
    std::string words;
    for (unsigned i = 0; i < 1 + random() % 6; ++i)
      words += "w" + std::to_string(random() % 40) + " ";
    return words;
  };
  WordIndex index;
  std::map<ItemId, Texts> items;
  for (int i = 0; i < 2000; ++i) {
    const ItemId id = static_cast<ItemId>(random() % 100);
    if (random() % 3 == 0) {
      index.erase(id);
      items.erase(id);
    } else {
      items[id] = {text(), text()};
      index.put(id, items[id]);
    }
  }
  WordIndex anew;
  for (const auto& [id, texts] : items) anew.put(id, texts);
  for (int i = 0; i < 40; ++i) {
    const std::string query = "w" + std::to_string(i) + " w7";
    EXPECT_EQ(index.search(query, 1000), anew.search(query, 1000)) << query;
  }
}

TEST(WordIndex, PagesFitTogetherAndCandidatesAreRespected) {
  WordIndex index;
  for (ItemId id = 0; id < 20; ++id) {
    index.put(id, Texts{id % 3 == 0 ? "word" : "word and more"});
  }
  const std::vector<Hit> all = index.search("word", 100);
  ASSERT_EQ(all.size(), 20U);
  EXPECT_EQ(index.search("word", 5, nullptr, &all[6]),
            (std::vector<Hit>(all.begin() + 7, all.begin() + 12)));
  const Candidates few{1, 6};
  EXPECT_THAT(ids(index.search("word", 100, &few)), ElementsAre(6, 1));
  Candidates many;
  for (ItemId id = 10; id < 100; ++id) many.push_back(id);
  EXPECT_EQ(index.search("word", 100, &many).size(), 10U);
}

TEST(Fuse, WhatIsHighInEitherIsHighAndInBothHigher) {
  const std::vector<Hit> first{{1, 0.9}, {2, 0.8}, {3, 0.7}};
  const std::vector<Hit> second{{4, 9.0}, {3, 8.0}};
  const std::vector<Hit> fused = fuse(first, second);
  EXPECT_THAT(ids(fused), ElementsAre(3, 1, 4, 2));
  EXPECT_DOUBLE_EQ(fused[0].score, 1.0 / 63 + 1.0 / 62);
  EXPECT_DOUBLE_EQ(fused[1].score, 1.0 / 61);
  EXPECT_THAT(fuse({}, {}), IsEmpty());
}

}  // namespace
}  // namespace clew::store
