// What the newest checkpoints hold, so that the next ones can be stored as
// differences from them, and be read, without going to the file.
#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <clew/checkpointer.hpp>

#include "checkpoint/sqlite/version_chain.hpp"

namespace clew::sqlite {

// A checkpoint of one namespace of a thread, with the chains it stands in.
struct Lineage {
  std::string checkpoint_id;
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
  std::optional<Lineage> take(const CheckpointKey& key);

  // The checkpoint with its values, if it is known.
  struct Known {
    Value checkpoint;
    Value channel_values;
  };
  std::optional<Known> look(const CheckpointKey& key);

  // Replaces what was known of the thread and namespace.
  void remember(const CheckpointKey& key, Lineage lineage);

  void forget_thread(std::string_view thread_id);
  void clear();

 private:
  // Values that nobody runs on are let go beyond this.
  static constexpr std::size_t kMaxBytes = 16 << 20;

  struct Entry {
    std::string thread_id;
    std::string place;  // thread and namespace
    Lineage lineage;
    std::size_t bytes;
  };
  using Entries = std::list<Entry>;  // the last used first

  static std::string place_of(const CheckpointKey& key);
  Entries::iterator find(const CheckpointKey& key);
  void erase(Entries::iterator entry);

  std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string, Entries::iterator> by_place_;
  std::size_t bytes_ = 0;
};

}  // namespace clew::sqlite
