// What the newest checkpoints hold, so that the next ones can be stored as
// differences from them, and be read, without going to the file.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <clew/checkpointer.hpp>

#include "checkpoint/sqlite/place_cache.hpp"
#include "checkpoint/sqlite/version_chain.hpp"

namespace clew::sqlite {

// A checkpoint of one namespace of a thread, with the chains it stands in.
struct Lineage {
  VersionChain checkpoint;                                 // without its values
  std::unordered_map<std::string, VersionChain> channels;  // those that hold something
  // With which checkpoint the version of a channel came, where the content of the checkpoint
  // does not say so.
  std::vector<std::pair<std::string, std::string>> new_origins;
};

// All methods may be called from any thread.
class VersionCache {
 public:
  // Hands over what is known of the checkpoint; whoever takes it remembers what
  // it has become.
  std::optional<Lineage> take(const CheckpointKey& key) { return lineages_.take(key); }

  // The checkpoint with its values, if it is known.
  struct Known {
    Value checkpoint;
    Value channel_values;
  };
  std::optional<Known> look(const CheckpointKey& key);

  // Replaces what was known of the thread and namespace.
  void remember(const CheckpointKey& place, std::string_view checkpoint_id, Lineage lineage);

  void forget_thread(std::string_view thread_id) { lineages_.forget_thread(thread_id); }

 private:
  PlaceCache<Lineage> lineages_{16 << 20};
};

}  // namespace clew::sqlite
