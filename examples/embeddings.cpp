// Memories found by meaning, with the vectors of a model. Needs an endpoint: OPENAI_API_KEY, or
// OPENAI_BASE_URL for a server of your own.
#include <clew/embeddings.hpp>

#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

namespace {

// [snippet local]
// Servers of your own need no key. Tune what a slow one needs.
std::shared_ptr<Embedder> local_embedder() {
  return init_embeddings("openai:nomic-embed-text", {.base_url = "http://localhost:11434/v1",
                                                     .batch_size = 32,
                                                     .timeout = std::chrono::minutes(5)});
}
// [/snippet local]

}  // namespace

int main(int argc, char** argv) {
  // [snippet search]
  const std::string model = argc > 1 ? argv[1] : "openai:text-embedding-3-small";
  IndexOptions index{.embed = init_embeddings(model), .fields = {"text"}};
  InMemoryStore store({.index = index});
  StoreNamespace memories{"1", "memories"};
  store.put(memories, "food", {{"text", "I like pizza"}});
  store.put(memories, "work", {{"text", "I write code for a bank"}});
  store.put(memories, "travel", {{"text", "My sister lives in Lisbon"}});

  SearchOptions options{.query = "What does the user like to eat?", .limit = 1};
  std::cout << store.search(memories, options).front().key << '\n';  // food
  // [/snippet search]

  // [snippet errors]
  InMemoryStore unreachable(
      {.index = IndexOptions{
           .embed = init_embeddings("openai:nomic-embed-text",
                                    {.base_url = "http://localhost:1/v1", .max_retries = 0})}});
  try {
    unreachable.put(memories, "food", {{"text", "I like pizza"}});
  } catch (const EmbeddingError& error) {
    std::cout << error.what() << '\n';  // ... cannot connect to localhost:1: Connection refused
  }
  std::cout << unreachable.search(memories).size() << '\n';  // 0: nothing is half stored
  // [/snippet errors]
  return local_embedder() ? 0 : 1;
}
