// What the puts that one caller stores together share: the time, and the row of the table
// `threads`, which is written once for all of a thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

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
  explicit PutBatch(std::string now) : now_(std::move(now)) {}

  // As it stands in columns.
  const std::string& now() const { return now_; }

  // Notes what was stored. `put` and `metadata` must live until finish().
  void add(Connection& connection, const CheckpointPut& put, bool is_head,
           const TypedBytes& metadata, const ThreadCounts& counts);

  // Writes what is noted.
  void finish(Connection& connection);

 private:
  void store_newest(Connection& connection) const;

  std::string now_;
  // Of the thread of the last put.
  const CheckpointPut* last_ = nullptr;
  ThreadCounts counts_;
  const CheckpointPut* newest_ = nullptr;  // root checkpoint, if there was one
  const TypedBytes* metadata_ = nullptr;
};

}  // namespace clew::sqlite
