// How much the threads of a database take, and what makes them big.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/database.hpp"

namespace clew::cli {

struct NodeStats {
  std::string node;
  std::uint64_t writes = 0;
  std::uint64_t bytes = 0;
};

struct ChannelStats {
  std::string channel;
  std::uint64_t writes = 0;
  std::uint64_t write_bytes = 0;
  std::optional<std::uint64_t> versions;  // nothing where values have no rows of their own
  std::optional<std::uint64_t> bytes;
};

// If every checkpoint held all its values whole.
struct Dedupe {
  std::uint64_t whole_bytes = 0;
  std::uint64_t stored_bytes = 0;  // of checkpoints and values, without writes
  bool is_estimate = false;        // from some of the checkpoints
};

// What the turns of a thread, each from an input to the next, added to the file.
struct Growth {
  std::string thread_id;
  std::uint64_t turns = 0;
  std::uint64_t first_bytes = 0;  // per turn, of the first few
  std::uint64_t last_bytes = 0;   // per turn, of the last few
};

struct DatabaseStats {
  std::uint64_t file_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t threads = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t checkpoint_bytes = 0;
  std::uint64_t writes = 0;
  std::uint64_t write_bytes = 0;
  std::optional<std::uint64_t> values;
  std::optional<std::uint64_t> value_bytes;
  std::vector<NodeStats> nodes;        // the most bytes first
  std::vector<ChannelStats> channels;  // the same
  std::optional<Dedupe> dedupe;        // nothing where nothing is shared
  std::optional<Growth> growth;        // of the thread, or of the longest one
};

// Of one thread, or of all if it is empty.
DatabaseStats database_stats(Database& database, const std::string& thread_id);

}  // namespace clew::cli
