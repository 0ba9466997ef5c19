// What is added to the counters of a thread, in its row of `clew_threads`.
#pragma once

#include <cstdint>
#include <string_view>

#include <clew/serde.hpp>

#include "checkpoint/sqlite/connection.hpp"

namespace clew::sqlite {

struct ThreadCounts {
  std::int64_t checkpoints = 0;
  std::int64_t writes = 0;
  std::int64_t bytes = 0;

  void add_bytes(const TypedBytes& data) { bytes += static_cast<std::int64_t>(data.bytes.size()); }
  void add(const ThreadCounts& other);
  void store(Connection& connection, std::string_view thread_id, std::string_view now) const;

  friend bool operator==(const ThreadCounts&, const ThreadCounts&) = default;
};

// Counts the root checkpoints that the row leaves out; see the view `threads` in
// native_schema.cpp.
void count_rest(Connection& connection, std::string_view thread_id);
// The same if the row does not count them up to the newest one.
void count_up_to(Connection& connection, std::string_view thread_id,
                 std::string_view newest_checkpoint);

}  // namespace clew::sqlite
