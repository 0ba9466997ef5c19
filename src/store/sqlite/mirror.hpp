// What a search by meaning or by words needs of a file, in memory: vectors and
// words of all items, by numbers of its own.
//
// Triggers note which items change, whoever changes them, so a mirror that
// falls behind reads those again and not the file.
#pragma once

#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checkpoint/sqlite/database.hpp"
#include "store/indexer.hpp"
#include "store/ranking.hpp"
#include "store/sqlite/item_codec.hpp"

namespace clew::sqlite {

class Mirror {
 public:
  // An item's prefix and key.
  using Name = std::pair<std::string, std::string>;

  // Without an index there are only words, those of the whole values.
  Mirror(Database& database, const ItemCodec& codec, const std::optional<IndexOptions>& index);

  // Calls `look` with a connection whose state of the file is the one that the
  // mirror shows, throughout the call. `with_words`: words are needed.
  template <class Look>
  auto read(bool with_words, const Look& look) {
    for (;;) {
      std::optional<decltype(look(std::declval<Connection&>()))> result;
      database_.read([&](Connection& connection) {
        catch_up(connection, with_words);
        const std::shared_lock lock(mutex_);
        if (newest_change(connection) == seen_) result = look(connection);
      });
      if (result) return *std::move(result);
    }
  }

  // In read() only -----

  // Which items are below a namespace: null for all.
  std::optional<store::Candidates> below(std::string_view prefix) const;
  std::optional<store::ItemId> find(std::string_view prefix, std::string_view key) const;
  const Name& name(store::ItemId id) const { return *names_.at(id); }
  store::Indexes indexes(const SearchOptions& options) const;

 private:
  static std::int64_t newest_change(Connection& connection);

  void catch_up(Connection& connection, bool with_words);
  void load_all_vectors(Connection& connection);
  void load_all_words(Connection& connection);
  void load_changes(Connection& connection);
  void load(Connection& connection, const Name& name);
  void forget(const Name& name);
  void clear();
  store::ItemId id_of(const Name& name);
  void add_vector(std::string_view bytes, std::vector<Embedder::Vector>& vectors);
  void put_words(const Name& name, const Rows& rows);

  Database& database_;
  const ItemCodec& codec_;
  const std::optional<IndexOptions> index_;
  const std::vector<store::TextPath> fields_;

  std::shared_mutex mutex_;
  std::int64_t seen_ = -1;  // the last change that is shown here; -1 before the first load
  std::size_t dims_;        // 0 until a vector tells
  store::ItemId next_id_ = 0;
  std::map<Name, store::ItemId, std::less<>> ids_;
  std::unordered_map<store::ItemId, const Name*> names_;
  std::optional<store::VectorIndex> vectors_;  // always there; made anew to empty it
  std::optional<store::WordIndex> words_;
};

}  // namespace clew::sqlite
