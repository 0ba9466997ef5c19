// The rows of checkpoints that were stored or read last, as long as nobody else can have
// changed them.
//
// All methods may be called from any thread. Those that take the number of a transaction (see
// own_commits.hpp) are called while it runs: a look before its commit does not find what it
// stores.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <clew/checkpointer.hpp>

#include "checkpoint/sqlite/own_commits.hpp"
#include "checkpoint/sqlite/place_cache.hpp"

namespace clew::sqlite {

// A row of the LangGraph layout.
struct CheckpointRow {
  Value checkpoint;  // the map
  std::string parent_id;
  std::string metadata;   // JSON
  std::size_t bytes = 0;  // as they are stored
};

class CheckpointCache {
 public:
  explicit CheckpointCache(std::size_t max_bytes) : rows_(max_bytes) {}

  using Row = std::shared_ptr<const CheckpointRow>;

  // The row, if in this era it is known to be in the file, or else null.
  Row look(const CheckpointKey& key, const Era& era);

  // The transaction stores the row.
  void store(const CheckpointKey& place, std::string_view checkpoint_id, Row row,
             std::uint64_t transaction);
  // The transaction stores a row that is not to be kept here.
  void change(const CheckpointKey& place, std::uint64_t transaction);

  // Without which it is read from the file.
  void forget(const CheckpointKey& place) { rows_.forget(place); }

  // The row was read, in the state that this transaction has left.
  void read(const CheckpointKey& key, Row row, std::uint64_t transaction);

 private:
  struct Known {
    Row row;
    std::uint64_t transaction = 0;
  };

  void remember(const CheckpointKey& place, std::string_view checkpoint_id, Row row,
                std::uint64_t transaction);

  std::mutex mutex_;
  std::uint64_t last_change_ = 0;  // the transaction
  PlaceCache<Known> rows_;
};

}  // namespace clew::sqlite
