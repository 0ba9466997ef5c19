// A Checkpointer stores the state of threads: one checkpoint per super-step,
// plus the writes of tasks that finished before the step did.
//
//   auto saver = std::make_shared<InMemorySaver>();
//   auto app = graph.compile({.checkpointer = saver});
//
//   for (const ThreadInfo& thread : saver->list_threads({.filter = {{"user", "ada"}}}))
//     saver->prune(thread.thread_id, {.keep = 10});
//
// All methods may be called from any thread. Writing methods return when the
// data is durable to the degree the backend's options promise.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <clew/fields.hpp>
#include <clew/ids.hpp>
#include <clew/value.hpp>

namespace clew {

// A place in a thread. Without an id: the newest checkpoint there.
struct CheckpointKey {
  std::string thread_id;
  std::string checkpoint_ns = {};
  std::string checkpoint_id = {};

  friend bool operator==(const CheckpointKey&, const CheckpointKey&) = default;
};

// The state of a graph between two super-steps, as LangGraph lays it out.
struct Checkpoint {
  int v = kCheckpointVersion;
  std::string id;
  std::string ts;          // ISO 8601, UTC
  Value channel_values;    // object: channels that hold something
  Value channel_versions;  // object: version of every channel ever written
  Value versions_seen;     // object: node -> object: channel -> version it last ran on
  Value updated_channels;  // list, sorted, or null: what the step changed
};

// What a task wrote to a channel before its step was complete.
struct PendingWrite {
  std::string task_id;
  std::string channel;
  Value value;
  std::string task_path = {};
  std::string node = {};  // its name, where the backend keeps it
};

struct CheckpointTuple {
  CheckpointKey key;
  Checkpoint checkpoint;
  Value metadata;  // object: source, step, parents, and more
  std::string parent_id;
  std::vector<PendingWrite> pending_writes;  // by task path, task id, index
};

// Channel and value of one write.
struct ChannelWrite {
  std::string channel;
  Value value;

  // For put_writes(): if the namespace has a newer checkpoint by now, another run has moved
  // the thread, and what it stored may be rebuilt from the writes of the older one. Then only
  // that there was a write is stored, to the channel "__no_writes__".
  bool only_at_head = false;
};

// What one task wrote, to store before its step is complete.
struct WritesPut {
  CheckpointKey key;  // the checkpoint whose step the task belongs to; it may come later
  std::string task_id;
  std::string task_path = {};
  std::vector<ChannelWrite> writes = {};
  std::string node = {};  // its name, for whoever looks into the database
};

// One checkpoint to store.
struct CheckpointPut {
  CheckpointKey key;  // its thread and namespace; checkpoint_id is the parent's, or empty
  Checkpoint checkpoint;
  Value metadata;
  Value new_versions;  // object: the channels whose value is new, with their version

  // If set: what must be the newest checkpoint of the namespace ("" for none)
  // when this one is stored. Otherwise another run has moved the thread, and
  // put() throws ThreadConflict and stores nothing of it.
  std::optional<std::string> expected_head = {};

  // If set: how many writes are stored with expected_head. More of them are those
  // of another run, which this checkpoint must not be rebuilt from: ThreadConflict.
  std::optional<std::size_t> expected_writes = {};

  // Writes of the steps that lead to this checkpoint and are not stored yet.
  // They are stored with it, or not at all.
  std::vector<WritesPut> writes = {};
};

struct ListOptions {
  // Entries of the metadata that must be equal. Null: all checkpoints. Equal
  // as in Python: 1 is 1.0 and true, and null is also what is not there.
  Value filter = {};

  // Only checkpoints older than this id. Empty: all.
  std::string before = {};

  // At most so many. Nothing: all.
  std::optional<std::size_t> limit = {};
};

// The stored form of a delta channel at a checkpoint: where to start and what
// was written since, oldest first.
struct DeltaHistory {
  std::optional<Value> seed;
  std::vector<PendingWrite> writes;
};

struct PruneOptions {
  // How many of the newest checkpoints of each namespace stay. 0 removes the thread.
  std::size_t keep = 1;

  // Also keep whatever is not older than this. Nothing: age does not matter.
  std::optional<std::chrono::system_clock::time_point> older_than = {};

  // Also keep where other branches of the thread end, so that each of them can
  // be continued. Without it a branch stays only while a question is open there.
  bool keep_branches = true;

  // If set: what must be the newest root checkpoint of the thread ("" for none) when it is
  // pruned. Otherwise somebody has gone on with it, and prune() throws ThreadConflict and
  // removes nothing.
  std::optional<std::string> expected_head = {};
};

// What the newest root checkpoint of a thread waits for.
enum class ThreadStatus {
  idle,         // nothing, or the next run
  interrupted,  // the answer to a question
  error,        // another attempt: a task has failed
};
CLEW_ENUM(ThreadStatus, idle, interrupted, error)

struct ThreadQuery {
  // Entries that the metadata of the thread's newest root checkpoint must
  // have, compared as in ListOptions. Null: all threads.
  Value filter = {};

  // Only threads of this status.
  std::optional<ThreadStatus> status = {};

  // Only threads whose newest root checkpoint is older than this.
  std::optional<std::chrono::system_clock::time_point> updated_before = {};

  // Only threads after this id, for the next page. Empty: from the first.
  std::string after = {};

  // At most so many. Nothing: all.
  std::optional<std::size_t> limit = {};
};

struct ThreadInfo {
  std::string thread_id;
  std::size_t checkpoints = 0;  // in all namespaces
  // Of the newest root checkpoint; empty and null if there is none.
  std::string checkpoint_id;
  std::string updated_at;  // ISO 8601, UTC
  Value metadata;
  ThreadStatus status = ThreadStatus::idle;
};

// How much a thread takes. All zero for a thread that does not exist.
struct ThreadSize {
  std::size_t checkpoints = 0;
  std::size_t writes = 0;
  std::size_t values = 0;  // versions of channels; checkpoints share them
  // As stored; in memory an estimate that counts what several versions of a
  // value share once for each.
  std::uint64_t bytes = 0;        // of all
  std::uint64_t write_bytes = 0;  // of these the writes
  std::uint64_t value_bytes = 0;  // of these the values that are stored beside checkpoints
};

class Checkpointer {
 public:
  Checkpointer() = default;
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;
  virtual ~Checkpointer() = default;

  // The checkpoint `key` names, or the newest of its thread and namespace if
  // key.checkpoint_id is empty. Nothing if there is none.
  virtual std::optional<CheckpointTuple> get_tuple(const CheckpointKey& key) = 0;

  // Checkpoints of a thread, newest first: of one namespace, or of all if
  // `checkpoint_ns` is not given.
  virtual std::vector<CheckpointTuple> list(std::string_view thread_id,
                                            std::optional<std::string_view> checkpoint_ns,
                                            const ListOptions& options) = 0;

  // Stores each of `puts` atomically, with its writes; all are durable on
  // return. Storing a checkpoint again replaces it. If one meets a
  // ThreadConflict, or holds what cannot be encoded, those that follow it in
  // its thread are not stored either; the others are, before the first reason
  // is thrown.
  virtual void put(std::span<const CheckpointPut> puts) = 0;

  // Records what tasks wrote before their step completed. A repeated (task_id,
  // index) keeps the first value, except for control channels (error,
  // interrupt, resume, scheduled), where the last one wins. What cannot be
  // encoded is thrown after the others are stored.
  virtual void put_writes(std::span<const WritesPut> puts) = 0;

  // For each channel the writes since the nearest ancestor of `key` that stores
  // a value for it, and that value; see DeltaHistory. By default follows the
  // parents with get_tuple().
  virtual std::vector<DeltaHistory> get_delta_channel_history(
      const CheckpointKey& key, std::span<const std::string> channels);

  // The version after `current`, which is null for none. By default a string,
  // see next_version() in ids.hpp.
  virtual Value next_version(const Value& current) const;

  // Removes everything of a thread.
  virtual void delete_thread(std::string_view thread_id) = 0;

  // Gives `target` everything that `source` holds, under the same ids. Throws
  // ValueError if `target` exists; nothing happens if `source` does not.
  virtual void copy_thread(std::string_view source, std::string_view target) = 0;

  // Removes checkpoints that nobody needs to continue the thread. What stays
  // returns what it returned before, apart from parents that are gone: older
  // checkpoints that it is rebuilt from (delta channels) stay with it. The
  // namespace of a subgraph call goes with the root checkpoint that made the call.
  virtual void prune(std::string_view thread_id, const PruneOptions& options) = 0;

  // Removes the checkpoints, in all threads, whose metadata has one of these as
  // "run_id", except those that a checkpoint which stays is rebuilt from. What
  // such a run wrote to a checkpoint of another one stays: an answered question
  // is still answered.
  virtual void delete_for_runs(std::span<const std::string> run_ids) = 0;

  // Threads by id, in the order of their text.
  virtual std::vector<ThreadInfo> list_threads(const ThreadQuery& query) = 0;

  virtual ThreadSize thread_size(std::string_view thread_id) = 0;

  // Whether writing waits for a disk or a network, so that it pays to go on meanwhile.
  virtual bool waits_for_device() const { return true; }

  // Whether put() wants every channel's value, not only those of new_versions.
  virtual bool stores_all_values() const { return false; }

  // Whether the metadata of checkpoints shall also say where they belong: the
  // thread, the checkpoint that was asked for, and in subgraphs the task around them.
  virtual bool stores_places() const { return false; }
};

// How many threads a query finds.
std::size_t count_threads(Checkpointer& saver, const ThreadQuery& query);

// Checkpoints of all threads, thread by thread in the order of their ids, each
// as Checkpointer::list() gives them.
std::vector<CheckpointTuple> list_checkpoints(Checkpointer& saver, const ListOptions& options);

// The position under which a write is stored: its place in the list, or a fixed
// negative one for control channels.
std::int64_t write_index(std::string_view channel, std::size_t position);

// The metadata of a checkpoint as LangGraph completes it: texts, numbers and
// booleans of `extras` (of a run's metadata or configurable) follow unless
// their key is taken, reserved, or begins with "__"; NUL characters are dropped.
Value checkpoint_metadata(const Value& metadata, const Value& extras);

}  // namespace clew
