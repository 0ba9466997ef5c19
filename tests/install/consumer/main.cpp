// A stranger's program: it sees only what was installed.
#include <iostream>

#include <clew/clew.hpp>
#include <clew/embeddings.hpp>
#include <clew/sqlite_saver.hpp>

int main() {
  const auto saver = clew::SqliteSaver::open(":memory:");
  const auto embedder = clew::init_embeddings("openai:test", {.base_url = "http://localhost/v1"});
  clew::InMemoryStore store({.index = clew::IndexOptions{.embed = embedder}});
  const clew::Value value{{"foo", "a"}, {"bar", {1, 2}}};
  if (saver->list_threads({}).empty() && store.search({}).empty()) {
    std::cout << clew::to_json(value) << '\n';
  }
}
