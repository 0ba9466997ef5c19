#include <algorithm>
#include <map>
#include <set>

#include <clew/errors.hpp>
#include <clew/thread_care.hpp>

namespace clew {
namespace {

// Checkpoints that go in one call.
constexpr std::size_t kBatch = 100;

void refuse(const std::string& thread_id) {
  throw ValueError("cannot copy thread '" + thread_id +
                   "': the target has a thread of this id; delete it there first, or copy"
                   " with skips_existing (--skip-existing)");
}

bool is_stored(Checkpointer& saver, const std::string& thread_id) {
  return !saver.list(thread_id, std::nullopt, {.limit = 1}).empty();
}

// Copies one thread, each namespace from its oldest checkpoint on, so that the
// target can store the later ones as what they changed.
class ThreadCopy {
 public:
  ThreadCopy(Checkpointer& to, std::string thread_id, std::vector<CheckpointTuple> originals)
      : to_(to), thread_id_(std::move(thread_id)), originals_(std::move(originals)) {
    for (CheckpointTuple& original : originals_) {
      original.key.thread_id = thread_id_;
      for (auto [channel, value] : original.checkpoint.channel_values.items()) {
        values_.emplace(version_key(original, channel), value);
      }
    }
    std::ranges::stable_sort(originals_, {},
                             [](const CheckpointTuple& tuple) { return tuple.checkpoint.id; });
  }

  // False if the thread is there already.
  bool run(bool skips_existing, CopyProgress& progress) {
    if (is_stored(to_, thread_id_)) {
      if (!skips_existing) refuse(thread_id_);
      if (!is_cut_short(to_.list(thread_id_, std::nullopt, {}))) return false;
      to_.delete_thread(thread_id_);
    }
    try {
      for (const CheckpointTuple& original : originals_) copy(original);
      flush();
      verify();
    } catch (...) {
      to_.delete_thread(thread_id_);
      throw;
    }
    ++progress.threads;
    progress.checkpoints += originals_.size();
    progress.writes += writes_;
    return true;
  }

 private:
  // By namespace and id.
  using Tuples = std::map<std::pair<std::string_view, std::string_view>, const CheckpointTuple*>;

  static Tuples by_id(const std::vector<CheckpointTuple>& all) {
    Tuples tuples;
    for (const CheckpointTuple& tuple : all) {
      tuples[{tuple.key.checkpoint_ns, tuple.checkpoint.id}] = &tuple;
    }
    return tuples;
  }

  // Whether something is missing from `stored`, and nothing else is different.
  bool is_cut_short(const std::vector<CheckpointTuple>& stored) const {
    const Tuples originals = by_id(originals_);
    bool is_short = stored.size() < originals_.size();
    for (const CheckpointTuple& copy : stored) {
      const auto original = originals.find({copy.key.checkpoint_ns, copy.checkpoint.id});
      if (original == originals.end() || !difference_of(*original->second, copy).empty()) {
        return false;
      }
      const std::vector<PendingWrite>& all = original->second->pending_writes;
      if (!has_writes(all, copy.pending_writes)) return false;
      is_short = is_short || copy.pending_writes.size() < all.size();
    }
    return is_short;
  }

  // Whether all of `some` are among `writes`.
  static bool has_writes(const std::vector<PendingWrite>& writes,
                         const std::vector<PendingWrite>& some) {
    std::multiset<Value> left;
    for (const PendingWrite& write : writes) left.insert(rendered(write));
    return std::ranges::all_of(some, [&](const PendingWrite& write) {
      const auto found = left.find(rendered(write));
      if (found == left.end()) return false;
      left.erase(found);
      return true;
    });
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

  // What is not the same in two checkpoints, apart from their writes. Empty: nothing.
  std::string difference_of(const CheckpointTuple& original, const CheckpointTuple& copy) const {
    if (original.parent_id != copy.parent_id) return "the parent";
    if (original.metadata != copy.metadata) return "the metadata";
    const Checkpoint& a = original.checkpoint;
    const Checkpoint& b = copy.checkpoint;
    const bool are_versions_equal =
        a.v == b.v && a.ts == b.ts && a.channel_versions == b.channel_versions &&
        a.versions_seen == b.versions_seen && a.updated_channels == b.updated_channels;
    if (!are_versions_equal) return "the versions";
    return a.channel_values == without_repeated(original, copy) ? "" : "the values";
  }

  // LangGraph's files have the value that a delta channel is rebuilt from in the first
  // checkpoint of its version only; a target that keeps values by their versions returns
  // it for all of them. The channel holds the same either way.
  Value without_repeated(const CheckpointTuple& original, const CheckpointTuple& copy) const {
    Value values = copy.checkpoint.channel_values;
    for (auto [channel, value] : copy.checkpoint.channel_values.items()) {
      if (original.checkpoint.channel_values.contains(channel)) continue;
      const auto first = values_.find(version_key(original, channel));
      if (first != values_.end() && first->second == value) values = values.erase(channel);
    }
    return values;
  }

  static Value version_key(const CheckpointTuple& tuple, std::string_view channel) {
    return list({tuple.key.checkpoint_ns, channel, tuple.checkpoint.channel_versions[channel]});
  }

  // All at once: what checkpoints share is then read once.
  void verify() const {
    const std::vector<CheckpointTuple> stored = to_.list(thread_id_, std::nullopt, {});
    const Tuples copies = by_id(stored);
    for (const CheckpointTuple& original : originals_) {
      const auto copy = copies.find({original.key.checkpoint_ns, original.checkpoint.id});
      verify(original, copy == copies.end() ? nullptr : copy->second);
    }
  }

  void verify(const CheckpointTuple& original, const CheckpointTuple* copy) const {
    std::string difference = copy ? difference_of(original, *copy) : "the presence";
    if (difference.empty() && !std::ranges::equal(original.pending_writes, copy->pending_writes, {},
                                                  rendered, rendered)) {
      difference = "the writes";
    }
    if (difference.empty()) return;
    throw StorageError("the copy of thread '" + thread_id_ + "' differs from the original in " +
                       difference + " of checkpoint " + original.checkpoint.id +
                       "; it was removed again");
  }

  static Value rendered(const PendingWrite& write) {
    return list({write.task_id, write.task_path, write.channel, write.value});
  }

  Checkpointer& to_;
  const std::string thread_id_;
  std::vector<CheckpointTuple> originals_;
  std::map<Value, Value> values_;  // by namespace, channel and version
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
  if (!options.as.empty() && ids.size() != 1) {
    throw ValueError("only a single thread can be copied under another id");
  }
  const auto name_of = [&](const std::string& id) { return options.as.empty() ? id : options.as; };
  for (const std::string& id : ids) {
    if (!options.skips_existing && is_stored(to, name_of(id))) refuse(name_of(id));
  }
  CopyProgress progress;
  for (const std::string& id : ids) {
    if (options.stop.stop_requested()) break;
    std::vector<CheckpointTuple> originals = from.list(id, std::nullopt, {});
    if (originals.empty()) {
      throw ValueError("cannot copy thread '" + id + "', which does not exist");
    }
    ThreadCopy copy(to, name_of(id), std::move(originals));
    if (!copy.run(options.skips_existing, progress)) ++progress.skipped;
    if (options.progress) options.progress(progress);
  }
  return progress;
}

bool restore_thread(Checkpointer& to, const std::string& thread_id,
                    std::vector<CheckpointTuple> checkpoints, bool skips_existing) {
  CopyProgress progress;
  return ThreadCopy(to, thread_id, std::move(checkpoints)).run(skips_existing, progress);
}

}  // namespace clew
