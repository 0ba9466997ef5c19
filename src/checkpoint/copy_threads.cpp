#include <algorithm>
#include <map>
#include <set>

#include <clew/errors.hpp>
#include <clew/thread_care.hpp>

namespace clew {
namespace {

// Checkpoints that go in one call.
constexpr std::size_t kBatch = 100;

// Copies one thread, each namespace from its oldest checkpoint on, so that the
// target can store the later ones as what they changed.
class ThreadCopy {
 public:
  ThreadCopy(Checkpointer& from, Checkpointer& to, std::string thread_id)
      : from_(from), to_(to), thread_id_(std::move(thread_id)) {}

  void run(CopyProgress& progress) {
    if (!to_.list(thread_id_, std::nullopt, {.limit = 1}).empty()) {
      throw ValueError("cannot copy thread '" + thread_id_ +
                       "': the target has a thread of this id; delete it there first");
    }
    const std::vector<CheckpointTuple> originals = oldest_first();
    if (originals.empty()) {
      throw ValueError("cannot copy thread '" + thread_id_ + "', which does not exist");
    }
    try {
      for (const CheckpointTuple& original : originals) copy(original);
      flush();
      for (const CheckpointTuple& original : originals) verify(original);
      ++progress.threads;
      progress.checkpoints += originals.size();
      progress.writes += writes_;
    } catch (...) {
      to_.delete_thread(thread_id_);
      throw;
    }
  }

 private:
  std::vector<CheckpointTuple> oldest_first() {
    std::vector<CheckpointTuple> tuples = from_.list(thread_id_, std::nullopt, {});
    std::ranges::stable_sort(tuples, {},
                             [](const CheckpointTuple& tuple) { return tuple.checkpoint.id; });
    return tuples;
  }

  void copy(const CheckpointTuple& tuple) {
    CheckpointPut& put = puts_.emplace_back();
    put.key = tuple.key;
    put.key.checkpoint_id = tuple.parent_id;
    put.new_versions = versions_not_stored(tuple);
    put.checkpoint = tuple.checkpoint;
    put.metadata = tuple.metadata;
    add_writes(tuple.key, tuple.pending_writes);
    if (puts_.size() >= kBatch) flush();
  }

  Value versions_not_stored(const CheckpointTuple& tuple) {
    ObjectBuilder missing;
    for (auto [channel, version] : tuple.checkpoint.channel_versions.items()) {
      auto& known = stored_[tuple.key.checkpoint_ns][std::string(channel)];
      if (known.insert(version).second) missing.set(channel, version);
    }
    return std::move(missing).build();
  }

  // By task, in their order; control writes last, whose index is not their position.
  void add_writes(const CheckpointKey& key, std::vector<PendingWrite> writes) {
    std::ranges::stable_sort(
        writes, {}, [](const PendingWrite& write) { return write_index(write.channel, 0) < 0; });
    std::map<std::pair<std::string, std::string>, WritesPut> by_task;
    for (PendingWrite& write : writes) {
      WritesPut& put = by_task[{write.task_path, write.task_id}];
      put.key = key;
      put.task_id = write.task_id;
      put.task_path = write.task_path;
      put.node = write.node;
      put.writes.push_back({std::move(write.channel), std::move(write.value)});
    }
    writes_ += writes.size();
    for (auto& [task, put] : by_task) writes_puts_.push_back(std::move(put));
  }

  void flush() {
    to_.put(puts_);
    to_.put_writes(writes_puts_);
    puts_.clear();
    writes_puts_.clear();
  }

  void verify(const CheckpointTuple& original) const {
    const auto copied = to_.get_tuple(original.key);
    const auto expect = [&](bool is_equal, const std::string& what) {
      if (is_equal) return;
      throw StorageError("the copy of thread '" + thread_id_ + "' differs from the original in " +
                         what + " of checkpoint " + original.checkpoint.id +
                         "; it was removed again");
    };
    expect(copied.has_value(), "the presence");
    expect(original.parent_id == copied->parent_id, "the parent");
    expect(original.metadata == copied->metadata, "the metadata");
    const Checkpoint& a = original.checkpoint;
    const Checkpoint& b = copied->checkpoint;
    expect(a.v == b.v && a.ts == b.ts && a.channel_versions == b.channel_versions &&
               a.versions_seen == b.versions_seen && a.updated_channels == b.updated_channels,
           "the versions");
    expect(a.channel_values == b.channel_values, "the values");
    expect(
        std::ranges::equal(original.pending_writes, copied->pending_writes, {}, rendered, rendered),
        "the writes");
  }

  static Value rendered(const PendingWrite& write) {
    return list({write.task_id, write.task_path, write.channel, write.value});
  }

  Checkpointer& from_;
  Checkpointer& to_;
  const std::string thread_id_;
  std::vector<CheckpointPut> puts_;
  std::vector<WritesPut> writes_puts_;
  std::size_t writes_ = 0;
  // Namespace -> channel -> versions that the target has.
  std::map<std::string, std::map<std::string, std::set<Value>>> stored_;
};

}  // namespace

CopyProgress copy_threads(Checkpointer& from, Checkpointer& to, const CopyOptions& options) {
  std::vector<std::string> ids = options.thread_ids;
  if (ids.empty()) {
    for (const ThreadInfo& thread : from.list_threads({})) ids.push_back(thread.thread_id);
  }
  CopyProgress progress;
  for (const std::string& id : ids) {
    if (options.stop.stop_requested()) break;
    ThreadCopy(from, to, id).run(progress);
    if (options.progress) options.progress(progress);
  }
  return progress;
}

}  // namespace clew
