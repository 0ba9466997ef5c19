// Search a store by meaning. The embedder is a stand-in that counts words about food.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

namespace {

// Two numbers per text: how much it is about food, and how much about anything else.
Embedder::Vector embed(const std::string& text) {
  Embedder::Vector vector{0, 0.1F};
  for (const char* word : {"eat", "pizza", "cuisine", "food"}) {
    if (text.find(word) != std::string::npos) vector[0] += 1;
  }
  for (const char* word : {"updated", "weather", "code"}) {
    if (text.find(word) != std::string::npos) vector[1] += 1;
  }
  return vector;
}

}  // namespace

int main() {
  // [snippet index]
  auto embedder = make_embedder([](std::span<const std::string> texts) {
    std::vector<Embedder::Vector> vectors;
    for (const std::string& text : texts) vectors.push_back(embed(text));
    return vectors;
  });
  IndexOptions index{.embed = embedder, .dims = 2, .fields = {"food_preference", "$"}};
  InMemoryStore store({.index = index});
  // [/snippet index]

  // [snippet put]
  StoreNamespace memories{"1", "memories"};
  store.put(memories, "pizza", {{"food_preference", "I like pizza"}});
  store.put(memories, "work", {{"note", "I write code"}});

  // Only this field is embedded.
  store.put(memories, "italian",
            {{"food_preference", "I love Italian cuisine"}, {"context", "weather"}},
            {.index = {{"food_preference"}}});
  // Not embedded at all: still there, but last.
  store.put(memories, "system", {{"system_info", "Last updated: 2024-01-01"}},
            {.index = std::vector<std::string>{}});
  // [/snippet put]

  // [snippet search]
  SearchOptions options{.query = "What does the user like to eat?", .limit = 3};
  for (const SearchItem& memory : store.search(memories, options)) {
    std::cout << memory.key << (memory.score ? "" : " (no score)") << '\n';
  }
  // [/snippet search]
  std::cout << store.search(memories, {.query = "eat"}).back().key << '\n';  // system

  // [snippet modes]
  SearchOptions words{.query = "Italian", .mode = SearchMode::text};
  std::cout << store.search(memories, words).front().key << '\n';  // italian
  SearchOptions both{.query = "Italian cuisine", .mode = SearchMode::hybrid};
  std::cout << store.search(memories, both).front().key << '\n';  // italian
  // [/snippet modes]
}
