// What the puts of one transaction share: the head of a namespace that the one before has
// just moved, and the row of the table `threads`, which is written once for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <clew/checkpointer.hpp>
#include <clew/serde.hpp>

#include "checkpoint/sqlite/connection.hpp"

namespace clew::sqlite {

// What is added to the counters of a thread.
struct ThreadCounts {
  std::int64_t checkpoints = 0;
  std::int64_t writes = 0;
  std::int64_t bytes = 0;

  void add_bytes(const TypedBytes& data) { bytes += static_cast<std::int64_t>(data.bytes.size()); }
  void add(const ThreadCounts& other);
  void store(Connection& connection, std::string_view thread_id, std::string_view now) const;
};

class PutBatch {
 public:
  explicit PutBatch(Connection& connection) : connection_(connection) {}

  // The newest checkpoint of the namespace, or empty.
  std::string head(const CheckpointKey& place) const;

  // Notes what was stored. `put` and `metadata` must live as long as the batch.
  void add(const CheckpointPut& put, bool is_head, const TypedBytes& metadata,
           const ThreadCounts& counts, std::string_view now);

  // Writes what is noted.
  void finish();

 private:
  void note_head(const CheckpointPut& put);
  void store_newest() const;

  Connection& connection_;
  std::array<const CheckpointPut*, 4> heads_ = {};  // of a few namespaces
  std::size_t next_head_ = 0;

  // Of the thread of the last put.
  const CheckpointPut* last_ = nullptr;
  ThreadCounts counts_;
  std::string now_;
  const CheckpointPut* newest_ = nullptr;  // root checkpoint, if there was one
  const TypedBytes* metadata_ = nullptr;
};

}  // namespace clew::sqlite
