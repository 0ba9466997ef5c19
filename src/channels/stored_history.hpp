// Channels whose value may have to be rebuilt from the writes of earlier steps.
#pragma once

#include <clew/channels.hpp>
#include <clew/checkpointer.hpp>

namespace clew {

class StoredAsHistory {
 public:
  virtual ~StoredAsHistory() = default;
  virtual ChannelState replay(const DeltaHistory& history, std::string_view key) const = 0;
};

// Delta channels store writes, and from time to time a snapshot.
class SnapshotChannel : public StoredAsHistory {
 public:
  virtual int snapshot_frequency() const = 0;
  // The write with an id for every message in it: what is replayed on each read
  // must be the same each time.
  virtual Value with_message_ids(const Value& write) const = 0;
};

// The value inside a delta snapshot, or nullptr if `stored` is none.
const Value* snapshot_value(const Value& stored);
[[noreturn]] void throw_two_overwrites(std::string_view key);

}  // namespace clew
