// A store that finds memories by meaning, with vectors of a real model.
#include <numeric>

#include <gtest/gtest.h>

#include <clew/embeddings.hpp>

namespace clew {
namespace {

double similarity(const Embedder::Vector& a, const Embedder::Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The figures that the authors of the model publish for these sentences.
TEST(MiniLm, IsTheModelItShouldBe) {
  const std::vector<std::string> texts{"The weather is lovely today.", "It's so sunny outside!",
                                       "He drove to the stadium."};
  const auto vectors = init_embeddings("openai:all-MiniLM-L6-v2")->embed_documents(texts);
  ASSERT_EQ(vectors[0].size(), 384U);
  EXPECT_NEAR(similarity(vectors[0], vectors[0]), 1, 1e-4);
  EXPECT_NEAR(similarity(vectors[0], vectors[1]), 0.6660, 1e-4);
  EXPECT_NEAR(similarity(vectors[0], vectors[2]), 0.1046, 1e-4);
  EXPECT_NEAR(similarity(vectors[1], vectors[2]), 0.1411, 1e-4);
}

TEST(MiniLm, FindsThePizzaAmongTwentyOtherMemories) {
  InMemoryStore store(
      {.index = IndexOptions{
           .embed = init_embeddings("openai:all-MiniLM-L6-v2"), .dims = 384, .fields = {"text"}}});
  const StoreNamespace memories{"1", "memories"};
  store.put(memories, "pizza", {{"text", "I love pizza with lots of cheese"}});
  const char* others[] = {"I work as a nurse in a hospital",
                          "My sister lives in Lisbon",
                          "I ride my bicycle to the office",
                          "The printer on the second floor is broken",
                          "I was born in 1987",
                          "My favourite colour is green",
                          "I am learning to play the cello",
                          "The meeting was moved to Thursday",
                          "I am afraid of spiders",
                          "My flight leaves at six in the morning",
                          "I have two brothers",
                          "I read crime novels before I sleep",
                          "The car needs new tyres",
                          "I prefer tabs to spaces",
                          "My daughter starts school in September",
                          "I watched a film about whales",
                          "The rent is due on the first of the month",
                          "I vote in every election",
                          "My phone has a cracked screen",
                          "I support the local football club"};
  for (const char* text : others) store.put(memories, text, {{"text", text}});

  const auto found =
      store.search(memories, {.query = "What does the user like to eat?", .limit = 3});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].key, "pizza");
  EXPECT_GT(*found[0].score, *found[1].score + 0.1);
}

}  // namespace
}  // namespace clew
