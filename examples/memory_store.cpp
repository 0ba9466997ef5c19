// A store: what a program remembers across threads.
#include <filesystem>
#include <iostream>

#include <clew/clew.hpp>
#include <clew/sqlite_store.hpp>

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
  SearchOptions page_options{.limit = 2};
  while (true) {
    auto page = store.search({"alice", "memories"}, page_options);
    if (page.empty()) break;
    for (const SearchItem& memory : page) std::cout << memory.key << '\n';
    page_options.after = page.back().cursor;
  }
  // [/snippet page]

  // [snippet namespaces]
  for (const StoreNamespace& ns : store.list_namespaces({.prefix = {"alice"}, .max_depth = 2})) {
    std::cout << Value(ns) << '\n';
  }
  // ["alice","memories"]
  // ["alice","preferences"]
  // [/snippet namespaces]

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "clew-store-example";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "memory.db").string();
  {
    // [snippet file]
    auto file = SqliteStore::open(path);
    file->put(memories, "food", {{"food_preference", "I like pizza"}});
    std::cout << SqliteStore::open(path)->get(memories, "food")->value << '\n';
    // [/snippet file]

    // [snippet batch]
    std::vector<StoreOp> ops;
    for (int i = 0; i < 100; ++i) ops.emplace_back(PutOp{memories, std::to_string(i), {{"n", i}}});
    ops.emplace_back(GetOp{memories, "food"});
    const std::vector<StoreResult> results = file->batch(ops);
    std::cout << std::get<std::optional<Item>>(results.back())->key << '\n';  // food
    // [/snippet batch]

    // [snippet ttl]
    using namespace std::chrono_literals;
    auto short_lived =
        SqliteStore::open(path, {.ttl = StoreTtl{.default_ttl = 24h, .refresh_on_read = true}});
    short_lived->put({"1", "session"}, "topic", {{"text", "pizza"}});  // for a day since last read
    short_lived->put({"1", "session"}, "hint", {{"text", "now"}}, {.ttl = 30min});
    short_lived->put({"1", "session"}, "name", {{"text", "Ada"}}, {.ttl = kNoTtl});
    StoreSweeper sweeper(short_lived);  // gives the space of expired items back
    // [/snippet ttl]
    std::cout << short_lived->search({"1", "session"}).size() << '\n';

    const std::string secret_path = (folder / "secret.db").string();
    // [snippet encrypted]
    // AesEaxCipher::from_environment() takes the key from LANGGRAPH_AES_KEY instead.
    auto cipher = std::make_shared<AesEaxCipher>("a key of 16 byte");
    auto secret = SqliteStore::open(secret_path, {.cipher = cipher});
    secret->put(memories, "food", {{"food_preference", "I like pizza"}});
    std::cout << secret->search(memories, {.filter = {{"food_preference", "I like pizza"}}}).size()
              << '\n';  // 1
    try {
      SqliteStore::open(secret_path);
    } catch (const StorageError& error) {
      std::cout << error.what() << '\n';
    }
    // [/snippet encrypted]
  }
  std::filesystem::remove_all(folder);
}
