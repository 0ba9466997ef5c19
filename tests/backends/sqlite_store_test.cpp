// What is particular to the store in a SQLite file; the rest is in StoreSuite.
#include <clew/sqlite_store.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "sql_file.hpp"
#include "store_suite.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

constexpr std::size_t kDims = 16;

// Nobody reads these files after a power cut.
SqliteStoreOptions quick(StoreOptions options = {}) {
  return {.index = std::move(options.index),
          .ttl = options.ttl ? options.ttl : StoreTtl(),
          .synchronous = SqliteSynchronous::off};
}

IndexOptions word_index(std::vector<std::string> fields = {"text"}) {
  return {.embed = make_embedder(embed_words), .dims = kDims, .fields = std::move(fields)};
}

SqliteStoreOptions encrypted(char key, StoreOptions options = {}) {
  SqliteStoreOptions all = quick(std::move(options));
  all.cipher = std::make_shared<AesEaxCipher>(std::string(32, key));
  return all;
}

SqliteStoreOptions first_stored(StoreOptions options = {}) {
  SqliteStoreOptions all = quick(std::move(options));
  all.order = StoreOrder::first_stored;
  return all;
}

// A store that keeps its folder as long as it lives.
std::shared_ptr<Store> make_in_file(SqliteStoreOptions options) {
  auto folder = std::make_shared<TemporaryFolder>();
  auto store = SqliteStore::open((folder->path / "store.db").string(), std::move(options));
  return {store.get(), [folder, store](Store*) mutable { store.reset(); }};
}

INSTANTIATE_TEST_SUITE_P(
    SqliteStore, StoreSuite,
    testing::Values(
        StoreBackend{
            .name = "sqlite",
            .make = [](StoreOptions options) { return make_in_file(quick(std::move(options))); }},
        StoreBackend{.name = "sqlite_encrypted",
                     .make =
                         [](StoreOptions options) {
                           return make_in_file(encrypted('k', std::move(options)));
                         }},
        StoreBackend{.name = "sqlite_first_stored",
                     .make =
                         [](StoreOptions options) {
                           return make_in_file(first_stored(std::move(options)));
                         }},
        StoreBackend{.name = "sqlite_in_memory",
                     .make =
                         [](StoreOptions options) {
                           return SqliteStore::open(":memory:", quick(std::move(options)));
                         }}),
    store_backend_name);

class SqliteStoreTest : public testing::Test {
 protected:
  std::shared_ptr<SqliteStore> open(SqliteStoreOptions options = quick()) {
    return SqliteStore::open(file(), std::move(options));
  }
  std::string file() const { return (folder_.path / "store.db").string(); }

  // The log as well.
  std::string bytes_of_all_files() const {
    std::ostringstream bytes;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path)) {
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    }
    return bytes.str();
  }

  void execute(const std::string& sql) { execute_sql(file(), sql); }

 private:
  TemporaryFolder folder_;
};

std::string keys(const std::vector<SearchItem>& items) {
  std::string text;
  for (const SearchItem& item : items) text += item.key;
  return text;
}

TEST_F(SqliteStoreTest, ItemsAreThereWhenTheFileIsOpenedAgain) {
  const Value value{{"text", "h\u00e9llo \U0001F600"}, {"n", 9007199254740993}, {"f", 3.0}};
  open()->put({"a", "b"}, "k", value);
  const auto item = open()->get({"a", "b"}, "k");
  ASSERT_TRUE(item);
  EXPECT_EQ(to_json(item->value), to_json(value));
}

TEST_F(SqliteStoreTest, WhatWasPutLastComesFirst) {
  auto store = open();
  for (const char* key : {"1", "2", "3"}) store->put({"a"}, key, {{"v", 1}});
  store->put({"a"}, "1", {{"v", 2}});
  EXPECT_EQ(keys(store->search({"a"})), "132");
}

TEST_F(SqliteStoreTest, GivesItemsInTheOrderInWhichTheyWereFirstStored) {
  auto store = open(first_stored());
  store->put({"n", "z"}, "1", {{"v", 1}});
  store->put({"n", "a"}, "2", {{"v", 1}});
  store->put({"n", "z"}, "3", {{"v", 1}});
  store->put({"n", "z"}, "1", {{"v", 2}});
  store->put({"other"}, "4", {{"v", 1}});
  EXPECT_EQ(keys(store->search({"n"})), "132");
  EXPECT_EQ(keys(store->search({})), "1324");
  EXPECT_EQ(keys(store->search({}, {.filter = {{"v", 1}}})), "324");
  EXPECT_EQ(keys(store->search({}, {.filter = {{"v", 1}}, .limit = 1, .offset = 1})), "2");
  store->delete_item({"n", "z"}, "1");
  store->put({"n", "z"}, "1", {{"v", 3}});
  EXPECT_EQ(keys(store->search({})), "2314");
  EXPECT_EQ(keys(open()->search({})), "1432");
}

TEST_F(SqliteStoreTest, AnItemThatLangGraphPutsAgainBecomesTheLast) {
  auto store = open(first_stored());
  for (const char* key : {"1", "2", "3"}) store->put({"a"}, key, {{"v", 1}});
  execute("INSERT OR REPLACE INTO store (prefix, key, value) VALUES ('a', '1', '{\"v\":2}')");
  EXPECT_EQ(keys(store->search({"a"})), "231");
}

TEST_F(SqliteStoreTest, PagesFitTogetherThoughTheFirstItemOfANamespaceGoes) {
  for (const bool cursor_goes_too : {false, true}) {
    auto store = open(first_stored());
    for (const char* key : {"1", "2", "3", "4"}) store->put({"a"}, key, {{"v", 1}});
    store->put({"b"}, "5", {{"v", 1}});
    const auto page = store->search({}, {.limit = 2});
    EXPECT_EQ(keys(page), "12");
    store->delete_item({"a"}, "1");
    if (cursor_goes_too) store->delete_item({"a"}, "2");
    EXPECT_EQ(keys(store->search({}, {.after = page.back().cursor})), "345");
    for (const SearchItem& item : store->search({})) store->delete_item(item.namespace_, item.key);
  }
}

TEST_F(SqliteStoreTest, ItemsWithoutAScoreAreInOrderBehindTheOthers) {
  auto store = open(first_stored({.index = word_index()}));
  for (const char* key : {"1", "2", "3"}) store->put({"a"}, key, {{"v", 1}});
  store->put({"a"}, "4", {{"text", "apple"}});
  store->put({"a"}, "1", {{"v", 2}});
  EXPECT_EQ(keys(store->search({"a"}, {.query = "apple"})), "4123");
  const auto page = store->search({"a"}, {.query = "apple", .limit = 2});
  EXPECT_EQ(keys(store->search({"a"}, {.query = "apple", .after = page.back().cursor})), "23");
}

TEST_F(SqliteStoreTest, SharesAFileWithThreads) {
  auto saver = SqliteSaver::open(file());
  auto store = open();
  store->put({"a"}, "k", {{"v", 1}});
  EXPECT_EQ(saver->layout(), SqliteLayout::native);
  EXPECT_TRUE(SqliteSaver::open(file())->list_threads({}).empty());
  EXPECT_TRUE(open()->get({"a"}, "k"));
}

TEST_F(SqliteStoreTest, ABatchIsOneCommit) {
  auto store = open();
  std::vector<StoreOp> ops;
  for (int i = 0; i < 100; ++i) {
    ops.emplace_back(PutOp{{"b"}, std::to_string(i), {{"v", i}}});
  }
  const std::uint64_t before = store->commits();
  store->batch(ops);
  EXPECT_EQ(store->commits() - before, 1U);
  EXPECT_EQ(store->search({"b"}, {.limit = 1000}).size(), 100U);
}

TEST_F(SqliteStoreTest, ReadingCommitsNothing) {
  auto store = open(quick({.index = word_index()}));
  store->put({"b"}, "k", {{"text", "v"}});
  store->search({"b"}, {.query = "v"});
  const std::uint64_t before = store->commits();
  store->get({"b"}, "k");
  store->search({"b"}, {.query = "v"});
  store->list_namespaces();
  EXPECT_EQ(store->commits(), before);
}

TEST_F(SqliteStoreTest, RefusesWhatJsonDoesNotKnow) {
  auto store = open();
  EXPECT_THROW(store->put({"a"}, "k", {{"v", Value::bytes("abc")}}), ValueError);
  EXPECT_EQ(store->get({"a"}, "k"), std::nullopt);
}

TEST_F(SqliteStoreTest, FindsWhatAnotherConnectionChanges) {
  auto writer = open(quick({.index = word_index()}));
  auto reader = open(quick({.index = word_index()}));
  writer->put({"a"}, "1", {{"text", "apple"}});
  EXPECT_EQ(keys(reader->search({"a"}, {.query = "apple", .limit = 1})), "1");
  writer->put({"a"}, "2", {{"text", "apple pie"}});
  writer->put({"a"}, "1", {{"text", "pear"}});
  EXPECT_EQ(keys(reader->search({"a"}, {.query = "apple", .limit = 1})), "2");
  EXPECT_EQ(keys(reader->search({"a"}, {.query = "pear", .mode = SearchMode::text})), "1");
  writer->delete_item({"a"}, "2");
  EXPECT_EQ(keys(reader->search({"a"}, {.query = "apple"})), "1");
  EXPECT_TRUE(reader->search({"a"}, {.query = "pie", .mode = SearchMode::text}).empty());
}

// Each of these reads finds the item in memory, unless the file was changed.
TEST_F(SqliteStoreTest, WhatIsKeptInMemoryFollowsTheFile) {
  auto store = open();
  const auto look = [&] {
    const auto item = store->get({"a"}, "1");
    const auto found = store->search({"a"}, {.filter = {{"v", {{"$gte", 0}}}}});
    return (item ? to_json(item->value) : "none") + " " + keys(found);
  };
  EXPECT_EQ(look(), "none ");
  store->put({"a"}, "1", {{"v", 1}});
  EXPECT_EQ(look(), R"({"v":1} 1)");
  open()->put({"a"}, "1", {{"v", 2}});
  EXPECT_EQ(look(), R"({"v":2} 1)");
  execute(
      "INSERT OR REPLACE INTO store (prefix, key, value, updated_at) "
      "VALUES ('a', '1', '{\"v\":3}', '2020-01-01 00:00:00'), "
      "('a', '2', '{\"v\":4}', '2020-01-02 00:00:00')");
  EXPECT_EQ(look(), R"({"v":3} 21)");
  SqliteSaver::open(file());  // changes the file, not the store
  EXPECT_EQ(look(), R"({"v":3} 21)");
  execute("UPDATE store SET expires_at = '2020-01-01 00:00:00', ttl_minutes = 1 WHERE key = '1'");
  EXPECT_EQ(look(), "none 2");
  execute("DELETE FROM store WHERE key = '2'");
  EXPECT_EQ(look(), "none ");
  store->put({"a"}, "1", {{"v", 5}});
  store->put({"a"}, "3", {{"v", 6}});
  execute("VACUUM");
  store->put({"a"}, "4", {{"v", 7}});
  EXPECT_EQ(look(), R"({"v":5} 431)");
}

TEST_F(SqliteStoreTest, ItemsAreKeptInMemoryOnceTheyAreReadOften) {
  for (const StoreOrder order : {StoreOrder::newest_first, StoreOrder::first_stored}) {
    SqliteStoreOptions never = quick();
    never.order = order;
    never.cache_bytes = 0;
    auto from_file = open(never);
    for (int i = 0; i < 40; ++i) {
      from_file->put({"n", std::to_string(i % 3)}, std::to_string(i), {{"v", i % 2}});
    }
    SqliteStoreOptions small = never;
    small.cache_bytes = 100;
    SqliteStoreOptions large = never;
    large.cache_bytes = 1'000'000;
    for (const SqliteStoreOptions& options : {small, large}) {
      auto store = open(options);
      for (int i = 0; i < 200; ++i) {
        const int key = i % 40;
        EXPECT_EQ(store->get({"n", std::to_string(key % 3)}, std::to_string(key))->value["v"],
                  Value(key % 2));
        EXPECT_EQ(store->get({"n"}, std::to_string(key)), std::nullopt);
      }
      std::vector<SearchItem> read;
      std::vector<SearchItem> expected;
      SearchOptions page{.filter = {{"v", 1}}, .limit = 7};
      do {
        read = store->search({"n"}, page);
        expected = from_file->search({"n"}, page);
        EXPECT_EQ(read, expected);
        if (!read.empty()) page.after = read.back().cursor;
      } while (!expected.empty());
      store->put({"n", "0"}, "0", {{"v", std::string(200, 'x')}});
      EXPECT_EQ(store->get({"n", "0"}, "0")->value["v"].as_string().size(), 200U);
      from_file->put({"n", "0"}, "0", {{"v", 0}});
      EXPECT_EQ(store->get({"n", "0"}, "0")->value["v"], Value(0));
    }
  }
}

// One thread writes increasing numbers; what the others read never goes back.
TEST_F(SqliteStoreTest, ReadersNeverSeeAnOlderItemThanBefore) {
  auto store = open();
  auto other = open();
  store->put({"a"}, "n", {{"v", 0}});
  std::atomic<int> written = 0;
  std::vector<std::thread> readers;
  for (const auto& reads : {store, other, store}) {
    readers.emplace_back([&written, reads] {
      while (written < 200) {
        const int before = written;
        EXPECT_GE(reads->get({"a"}, "n")->value["v"].as_int(), before);
        EXPECT_GE(reads->search({"a"})[0].value["v"].as_int(), before);
      }
    });
  }
  for (int i = 1; i <= 200; ++i) {
    (i % 3 == 0 ? other : store)->put({"a"}, "n", {{"v", i}});
    written = i;
  }
  for (std::thread& reader : readers) reader.join();
}

TEST_F(SqliteStoreTest, TheLogOfChangesStaysShort) {
  auto store = open();
  std::vector<StoreOp> ops;
  for (int i = 0; i < 5'000; ++i) {
    ops.emplace_back(PutOp{{"b"}, std::to_string(i % 100) + "-" + std::to_string(i), {{"v", i}}});
  }
  for (int i = 0; i < 4; ++i) store->batch(ops);
  execute(
      "CREATE TABLE checked (n INTEGER CHECK (n < 15000));"
      "INSERT INTO checked SELECT count(*) FROM clew_store_changes");
}

TEST_F(SqliteStoreTest, ReadsEverythingAgainIfChangesWereForgotten) {
  auto writer = open(quick({.index = word_index()}));
  auto reader = open(quick({.index = word_index()}));
  writer->put({"a"}, "1", {{"text", "apple"}});
  EXPECT_EQ(keys(reader->search({"a"}, {.query = "apple"})), "1");
  for (const char* key : {"2", "3", "4"}) writer->put({"a"}, key, {{"text", "apple"}});
  writer->delete_item({"a"}, "1");
  execute(
      "DELETE FROM clew_store_changes WHERE number < (SELECT max(number) FROM clew_store_changes)");
  EXPECT_EQ(reader->search({"a"}, {.query = "apple"}).size(), 3U);
}

TEST_F(SqliteStoreTest, WithoutATimeToLiveNothingExpires) {
  open()->put({"a"}, "k", {{"v", 1}}, {.ttl = std::chrono::milliseconds(1)});
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(open()->get({"a"}, "k"), std::nullopt);
  SqliteStoreOptions forever = quick();
  forever.ttl.reset();
  auto store = open(forever);
  EXPECT_TRUE(store->get({"a"}, "k"));
  EXPECT_THROW(store->put({"a"}, "k", {{"v", 1}}, {.ttl = std::chrono::minutes(1)}),
               BadArgumentError);
  EXPECT_EQ(store->sweep_ttl(), 1U);
  EXPECT_EQ(store->get({"a"}, "k"), std::nullopt);
}

TEST_F(SqliteStoreTest, AnExpiredItemTakesNoPlaceInASearch) {
  auto store = open(quick({.index = word_index()}));
  store->put({"a"}, "old", {{"text", "apple"}}, {.ttl = std::chrono::milliseconds(1)});
  store->put({"a"}, "new", {{"text", "apple pie"}});
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(keys(store->search({"a"}, {.query = "apple", .limit = 1})), "new");
}

TEST_F(SqliteStoreTest, ItemsWithoutVectorsAreEmbeddedOnRequest) {
  auto plain = open();
  plain->put({"a"}, "1", {{"text", "apple"}});
  plain->put({"a"}, "2", {{"text", "pear"}}, {.index = std::vector<std::string>{}});
  auto store = open(quick({.index = word_index()}));
  store->put({"a"}, "3", {{"text", "plum"}});
  EXPECT_EQ(store->missing_vectors(), 1U);
  EXPECT_EQ(store->search({"a"}, {.query = "apple"})[0].key, "3");

  std::vector<std::size_t> progress;
  const auto note = [&](std::size_t done, std::size_t total) { progress = {done, total}; };
  EXPECT_EQ(store->reindex({.progress = note}), 2U);
  EXPECT_EQ(progress, (std::vector<std::size_t>{3, 3}));
  EXPECT_EQ(store->missing_vectors(), 0U);
  const auto found = store->search({"a"}, {.query = "apple"});
  EXPECT_EQ(keys(found), "132");
  EXPECT_EQ(found[2].score, std::nullopt);
}

TEST_F(SqliteStoreTest, VectorsOfAnotherModelDoNotCount) {
  open(quick({.index = word_index()}))->put({"a"}, "1", {{"text", "apple"}});
  IndexOptions other{.embed = make_embedder([](std::span<const std::string> texts) {
                       return std::vector<Embedder::Vector>(texts.size(), {1, 0, 0});
                     }),
                     .dims = 3};
  auto store = open(quick({.index = other}));
  EXPECT_EQ(store->missing_vectors(), 1U);
  EXPECT_EQ(store->search({"a"}, {.query = "x"})[0].score, std::nullopt);
  store->reindex();
  EXPECT_EQ(store->missing_vectors(), 0U);
  EXPECT_NEAR(*store->search({"a"}, {.query = "x"})[0].score, 1, 1e-6);
}

TEST_F(SqliteStoreTest, OpensFilesOfTheFirstVersions) {
  execute(
      "CREATE TABLE store_migrations (v INTEGER PRIMARY KEY);"
      "INSERT INTO store_migrations VALUES (0), (1);"
      "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, "
      "created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT "
      "CURRENT_TIMESTAMP, PRIMARY KEY (prefix, key));"
      "CREATE INDEX store_prefix_idx ON store (prefix);"
      "INSERT INTO store (prefix, key, value) VALUES ('a.b', 'k', '{\"v\":1}');");
  auto store = open();
  EXPECT_EQ(store->get({"a", "b"}, "k")->value, (Value{{"v", 1}}));
  store->put({"a", "b"}, "k", {{"v", 2}}, {.ttl = std::chrono::minutes(1)});
  EXPECT_EQ(store->get({"a", "b"}, "k")->value, (Value{{"v", 2}}));
}

TEST_F(SqliteStoreTest, AFileThatIsNoneIsRefused) {
  {
    std::ofstream out(file());
    out << std::string(5000, 'x');
  }
  try {
    open();
    FAIL() << "opened a file that is no database";
  } catch (const StorageError& error) {
    EXPECT_NE(std::string(error.what()).find("not a database"), std::string::npos) << error.what();
  }
}

TEST_F(SqliteStoreTest, AnEncryptedFileShowsNothingButNames) {
  const IndexOptions index = word_index();
  auto store = open(encrypted('k', {.index = index}));
  store->put({"places"}, "home", {{"text", "MARKER street"}, {"n", 1}});
  store->put({"places"}, "work", {{"text", "MARKER square"}},
             {.index = std::vector<std::string>{"text"}});
  EXPECT_EQ(store->reindex(), 2U);
  EXPECT_EQ(keys(store->search({"places"}, {.query = "square", .limit = 1})), "work");
  EXPECT_EQ(keys(store->search({"places"}, {.query = "street", .mode = SearchMode::text})), "home");
  EXPECT_EQ(keys(store->search({"places"}, {.filter = {{"n", {{"$gte", 1}}}}})), "home");
  EXPECT_EQ(bytes_of_all_files().find("MARKER"), std::string::npos);
  EXPECT_NE(bytes_of_all_files().find("places"), std::string::npos);
  store.reset();
  EXPECT_EQ(bytes_of_all_files().find("MARKER"), std::string::npos);
  store = open(encrypted('k', {.index = index}));
  EXPECT_EQ(store->get({"places"}, "home")->value["text"], Value("MARKER street"));
  EXPECT_EQ(store->missing_vectors(), 0U);
}

TEST_F(SqliteStoreTest, OnlyItsKeyOpensAnEncryptedFile) {
  open(encrypted('k'));
  const auto problem = [&](SqliteStoreOptions options) {
    try {
      open(std::move(options));
      return std::string();
    } catch (const StorageError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(problem(encrypted('k')), "");
  EXPECT_EQ(problem(quick()),
            "the memory store in this file is encrypted; open the store with "
            "SqliteStoreOptions::cipher and the key that it was written with");
  const std::string wrong =
      "the memory store in this file cannot be decrypted: MAC check failed: the key is wrong or "
      "the data is damaged; open the store with the key and the kind of cipher that it was written "
      "with";
  EXPECT_EQ(problem(encrypted('x')), wrong);
  SqliteStoreOptions other_mode = quick();
  other_mode.cipher = std::make_shared<AesGcmCipher>(std::string(32, 'k'));
  EXPECT_EQ(problem(other_mode), wrong);
}

TEST_F(SqliteStoreTest, ItemsFromBeforeTheKeyAreReadAsTheyAre) {
  const IndexOptions index = word_index();
  auto plain = open(quick({.index = index}));
  plain->put({"a"}, "1", {{"text", "apple"}});
  plain->put({"a"}, "2", {{"text", "pear"}});
  auto store = open(encrypted('k', {.index = index}));
  store->put({"a"}, "3", {{"text", "apple pie"}});
  store->put({"a"}, "2", {{"text", "plum"}});
  EXPECT_EQ(keys(store->search({"a"})), "231");
  EXPECT_EQ(keys(store->search({"a"}, {.filter = {{"text", "apple"}}})), "1");
  EXPECT_EQ(store->search({"a"}, {.query = "apple", .mode = SearchMode::text}).size(), 2U);
  EXPECT_EQ(store->reindex(), 3U);

  // Whoever had opened it before reads what he can, and is told of the rest.
  EXPECT_EQ(plain->get({"a"}, "1")->value["text"], Value("apple"));
  for (int i = 0; i < 2; ++i) {
    try {
      plain->search({"a"}, {.query = "plum", .mode = SearchMode::text});
      FAIL() << "searched what it cannot read";
    } catch (const StorageError& error) {
      EXPECT_EQ(std::string(error.what()),
                "the item '2' in 'a' is encrypted; open the store with SqliteStoreOptions::cipher "
                "and the key that it was written with");
    }
  }
}

TEST_F(SqliteStoreTest, RemovedItemsGiveTheirSpaceBack) {
  auto store = open();
  std::vector<StoreOp> ops;
  for (int i = 0; i < 200; ++i) {
    ops.emplace_back(PutOp{{"b"}, std::to_string(i), {{"text", std::string(10'000, 'x')}}});
  }
  store->batch(ops);
  store->vacuum();
  const auto large = std::filesystem::file_size(file());
  for (StoreOp& op : ops) std::get<PutOp>(op).value = nullptr;
  store->batch(ops);
  store->vacuum();
  EXPECT_LT(std::filesystem::file_size(file()), large / 10);
}

}  // namespace
}  // namespace clew
