// A store: what a program remembers across threads.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

int main() {
  // [snippet basic]
  InMemoryStore store;
  const std::string user_id = "1";
  StoreNamespace memories{user_id, "memories"};

  store.put(memories, "food", {{"food_preference", "I like pizza"}});
  std::vector<SearchItem> found = store.search(memories);
  std::cout << found.back().value << '\n';  // {"food_preference":"I like pizza"}
  // [/snippet basic]

  // [snippet item]
  const Item& item = found.back();
  std::cout << item << '\n';  // value, key, namespace, created_at, updated_at
  std::cout << store.get(memories, item.key)->value << '\n';
  store.delete_item(memories, item.key);
  std::cout << store.search(memories).size() << '\n';  // 0
  // [/snippet item]

  // [snippet list]
  for (int i = 0; i < 5; ++i) {
    store.put({"alice", "memories"}, "memory-" + std::to_string(i), {{"n", i}});
  }
  store.put({"alice", "preferences"}, "theme", {{"color", "dark"}});

  // A prefix finds the namespaces below it too. No more than `limit` are returned.
  std::cout << store.search({"alice"}, {.limit = 100}).size() << '\n';              // 6
  std::cout << store.search({"alice", "memories"}, {.limit = 100}).size() << '\n';  // 5
  SearchOptions late{.filter = {{"n", {{"$gte", 3}}}}};
  std::cout << store.search({"alice", "memories"}, late).size() << '\n';  // 2
  // [/snippet list]

  // [snippet page]
  const std::size_t page_size = 2;
  for (std::size_t offset = 0;; offset += page_size) {
    auto page = store.search({"alice", "memories"}, {.limit = page_size, .offset = offset});
    if (page.empty()) break;
    for (const SearchItem& memory : page) std::cout << memory.key << '\n';
  }
  // [/snippet page]

  // [snippet namespaces]
  for (const StoreNamespace& ns : store.list_namespaces({.prefix = {"alice"}, .max_depth = 2})) {
    std::cout << Value(ns) << '\n';
  }
  // ["alice","memories"]
  // ["alice","preferences"]
  // [/snippet namespaces]
}
