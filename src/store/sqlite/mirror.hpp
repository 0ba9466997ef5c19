// What reads need of a file, in memory: its items, if they are not too many, and
// for a search by meaning or by words the vectors and words of all items, by
// numbers of its own.
//
// Triggers note which items change, whoever changes them, so a mirror that
// falls behind reads those again and not the file.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checkpoint/sqlite/database.hpp"
#include "checkpoint/sqlite/file_state.hpp"
#include "store/indexer.hpp"
#include "store/ranking.hpp"
#include "store/sqlite/item_codec.hpp"
#include "store/sqlite/kept_items.hpp"

namespace clew::sqlite {

// Makes the log of changes, and forgets those that are too old.
void create_change_log(Connection& connection);

struct MirrorOptions {
  std::optional<IndexOptions> index;  // nothing: words are those of the whole values
  StoreOrder order = StoreOrder::newest_first;
  std::size_t cache_bytes = 0;
};

class Mirror {
 public:
  // An item's prefix and key.
  using Name = std::pair<std::string, std::string>;

  struct Needs {
    bool vectors = false;
    bool words = false;
    bool items = false;
  };

  // The tables are there. What a new file has is known: nothing.
  Mirror(Database& database, const ItemCodec& codec, MirrorOptions options);

  // Calls `look` if the mirror is known to show the file as it is now, with all
  // items. False if not, or if `look` says so.
  template <class Look>
  bool try_read(const Needs& needs, const Look& look) const {
    const std::shared_lock lock(mutex_);
    if (!items_ || !has(needs) || !shown_ || watch_->state() != shown_) return false;
    return look();
  }

  // Calls `look` with a connection whose state of the file is the one that the
  // mirror shows, throughout the call.
  template <class Look>
  auto read(const Needs& needs, const Look& look) {
    for (;;) {
      std::optional<decltype(look(std::declval<Connection&>()))> result;
      const std::optional<FileState> state = watch_->state();
      database_.read([&](Connection& connection) {
        catch_up(connection, needs, state);
        const std::shared_lock lock(mutex_);
        if (newest_change(connection) == seen_) result = look(connection);
      });
      if (result) return *std::move(result);
    }
  }

  // Whether it follows the items, so that a read() is worth it.
  bool keeps_items() const { return keeps_items_.load(std::memory_order_relaxed); }
  // So many items were read from the file. If that is often, they are kept.
  void note_reads(std::size_t count);

  // A change of items by this process, between two numbers of the log.
  struct OwnChange {
    std::int64_t before = 0;
    std::int64_t after = 0;
    std::vector<std::int64_t> rows = {};  // what put_item() returned
  };
  // Runs in the transaction, before and after the puts.
  static void begin(Connection& connection, OwnChange& change);
  static void end(Connection& connection, OwnChange& change);
  // After the commit.
  void follow(const OwnChange& change, std::span<const ItemPut> puts, Item::Time now);

  // In try_read() and read() only -----

  // Whether it knows if there is such an item, and which.
  bool look_up(std::string_view prefix, std::string_view key, std::optional<Item>& item) const;

  // Null if the items below the namespace, or one of them, must be read from the file.
  const KeptItems* items_below(std::string_view prefix) const;

  // Which items are below a namespace: null for all.
  std::optional<store::Candidates> below(std::string_view prefix) const;
  std::optional<store::ItemId> find(std::string_view prefix, std::string_view key) const;
  const Name& name(store::ItemId id) const { return *names_.at(id); }
  store::Indexes indexes(const SearchOptions& options) const;

 private:
  static std::int64_t newest_change(Connection& connection);

  bool has(const Needs& needs) const;
  bool is_caught_up(std::int64_t newest, const Needs& needs,
                    const std::optional<FileState>& state) const;
  void catch_up(Connection& connection, const Needs& needs, const std::optional<FileState>& state);
  void load_all_vectors(Connection& connection);
  void load_all_words(Connection& connection);
  void load_all_items(Connection& connection);
  void load_changes(Connection& connection);
  void load(Connection& connection, const Name& name);
  void follow(const ItemPut& put, std::int64_t new_row, Item::Time now);
  void forget(const Name& name);
  void clear();
  void keep_items(std::unique_ptr<KeptItems> items);
  void limit_items();
  store::ItemId id_of(const Name& name);
  void add_vector(Embedder::Vector vector, std::vector<Embedder::Vector>& vectors);
  void put_words(const Name& name, const Value& value, const std::optional<std::string>& paths);

  Database& database_;
  const ItemCodec& codec_;
  const MirrorOptions options_;
  const std::vector<store::TextPath> fields_;
  std::optional<FileWatch> watch_;  // always there

  mutable std::shared_mutex mutex_;
  std::int64_t seen_ = -1;          // the last change that is shown here; -1 before the first load
  std::optional<FileState> shown_;  // a state of the file that has no change behind it
  std::size_t dims_;                // 0 until a vector tells
  store::ItemId next_id_ = 0;
  std::map<Name, store::ItemId, std::less<>> ids_;
  std::unordered_map<store::ItemId, const Name*> names_;
  std::optional<store::VectorIndex> vectors_;  // made anew to empty it
  bool has_vectors_ = false;
  std::optional<store::WordIndex> words_;
  std::unique_ptr<KeptItems> items_;

  std::atomic<bool> keeps_items_ = false;
  std::atomic<std::size_t> reads_ = 0;
  std::atomic<std::size_t> reads_until_load_ = 64;
};

}  // namespace clew::sqlite
