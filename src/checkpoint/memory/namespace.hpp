// What InMemorySaver holds of one graph in one thread: its checkpoints by id,
// their pending writes, and the values that the checkpoints share. Nothing
// here locks; the saver does.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <clew/checkpointer.hpp>

#include "checkpoint/retention.hpp"

namespace clew::memory {

// The writes that tasks stored with a checkpoint. Adding is an append; what is
// repeated is settled, and the order made, when they are next read.
class PendingWrites {
 public:
  struct Write {
    std::int64_t index;
    std::uint64_t order;  // when it came: later ones have greater numbers
    Value channel;
    Value value;
  };
  // The texts that the tasks of many steps have in common are shared.
  struct TaskWrites {
    std::string task_id;
    Value task_path;
    Value node;
    std::vector<Write> writes;
  };

  void add(const WritesPut& put);

  // By task path, task id and index; each (task id, index) once.
  const std::vector<TaskWrites>& settled();
  std::vector<PendingWrite> list();
  bool has_open_interrupt();

 private:
  bool is_in_order() const;
  void settle();

  std::vector<TaskWrites> tasks_;  // none is empty
  std::uint64_t added_ = 0;
  bool is_settled_ = true;
};

// Values by version and channel. One put adds one entry that shares the
// objects it was given, however many channels they hold.
class BlobTable {
 public:
  struct Blobs {
    Value versions;                      // the channels that the put changed, with their version
    Value values;                        // among others, the values of those that hold something
    std::shared_ptr<const Blobs> older;  // what an earlier put stored under the same version
  };

  void add(const Value& versions, const Value& values);
  // The newest entry with this version, or nullptr.
  const Blobs* find(const Value& version) const;

 private:
  void add(const Value& version, const Value& versions, const Value& values);

  std::unordered_map<Value, Blobs> by_version_;
};

struct Record {
  bool is_stored = false;    // else only its writes are here
  bool is_resolved = false;  // `values` are exactly the checkpoint's
  int v = 0;
  std::string parent_id;
  std::string ts;
  Value values;        // as given to put(), which may be more or less than the checkpoint's
  Value new_versions;  // which of them are the checkpoint's, and channels that hold nothing
  Value channel_versions;
  Value versions_seen;
  Value updated_channels;
  Value metadata;
  PendingWrites writes;
};

class Namespace {
 public:
  using Records = std::map<std::string, Record, std::less<>>;

  // Namespaces are listed in the order in which they appeared.
  explicit Namespace(std::size_t ordinal) : ordinal_(ordinal) {}
  std::size_t ordinal() const { return ordinal_; }

  // The id of the newest checkpoint, or empty.
  std::string_view head() const;

  void put(const CheckpointPut& put);
  void put_writes(const WritesPut& put);
  std::size_t count_writes(std::string_view checkpoint_id);

  // The checkpoint of this id, or the newest one if it is empty.
  std::optional<CheckpointTuple> get(const CheckpointKey& key);
  // Appends to `found` until it holds options.limit.
  void list(const CheckpointKey& place, const ListOptions& options,
            std::vector<CheckpointTuple>& found);
  std::vector<DeltaHistory> delta_history(std::string_view checkpoint_id,
                                          std::span<const std::string> channels);

  // As Checkpointer says, without the namespaces of subgraph calls.
  void prune(const PruneOptions& options);
  void delete_for_runs(std::span<const std::string> run_ids);

  const Record* find(std::string_view checkpoint_id) const;
  const Record* newest() const;
  Record* newest();
  std::size_t checkpoint_count() const;
  ThreadSize size();

 private:
  std::optional<const Value*> find_value(const Record& record, std::string_view channel,
                                         const Value& version) const;
  std::optional<const Value*> value_of_others(const Record& record, std::string_view channel,
                                              const Value& version) const;
  std::optional<const Value*> inherited_value(const Record& record, std::string_view channel,
                                              const Value& version) const;
  const Value* stored_value(const Record& record, std::string_view channel) const;
  void resolve(Record& record) const;
  // Writes what is stored of a checkpoint into an empty tuple.
  void fill(CheckpointTuple& tuple, const CheckpointKey& place, const std::string& id,
            Record& record);

  // The newest checkpoint, or the end.
  Records::const_iterator newest_entry() const;
  // Erasing nothing is how a map gives write access to what was found.
  Records::iterator changeable(Records::const_iterator entry) {
    return records_.erase(entry, entry);
  }

  internal::Retention retention() const;
  void retain(const internal::Retention::Ids& kept);

  std::size_t ordinal_;
  Records records_;
  BlobTable blobs_;
};

}  // namespace clew::memory
