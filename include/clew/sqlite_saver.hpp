// Keeps threads in one SQLite file, which survives kill -9 and power loss.
//
//   auto saver = SqliteSaver::open("threads.db");
//   auto app = graph.compile({.checkpointer = saver});
//
// Any number of runs, threads and processes may use a file at once. A file that
// Python's langgraph-checkpoint-sqlite made is opened in its own layout, so
// LangGraph and Clew can take turns on its threads. A new file gets Clew's
// layout, in which a checkpoint costs what its step changed; see
// docs/format/sqlite.md.
//
// All methods may be called from any thread. Whatever several threads store at
// the same time is committed together.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include <clew/checkpointer.hpp>
#include <clew/reducers.hpp>
#include <clew/serde.hpp>

namespace clew {

enum class SqliteLayout {
  automatic,  // that of the file; native if it has none yet
  native,
  langgraph,  // that of langgraph-checkpoint-sqlite
};

// What "durable" means when a writing method returns.
enum class SqliteSynchronous {
  full,    // survives power loss
  normal,  // survives the end of the process; power loss may undo the last commits
  off,     // survives the end of the process; power loss may damage the file
};

struct SqliteOptions {
  // How values become bytes. Null: a JsonPlusSerializer.
  std::shared_ptr<const Serializer> serializer = {};

  // Which tables a new file gets, or which an existing one must have.
  SqliteLayout layout = SqliteLayout::automatic;

  SqliteSynchronous synchronous = SqliteSynchronous::full;

  // How long to wait while another process writes.
  std::chrono::milliseconds busy_timeout{30'000};
};

struct RecoverOptions {
  // How the writes to a channel add up, in all graphs of the thread; an empty reducer for one
  // that keeps the last. A channel that is not named may be a topic, keep the last write or
  // have any of the reducers of reducers.hpp or add_messages: whichever make what is still
  // stored of it. Channels with reducers of one's own have to be named.
  std::unordered_map<std::string, Reducer> reducers = {};

  // Whether to go by what is usual where nothing stored tells: that a channel is no topic and
  // begins empty, that lists are appended to and messages merged by their ids, and that the
  // input of a run names nothing but channels.
  bool assumes_the_usual = true;
};

struct BlobRecovery {
  std::size_t recovered = 0;              // values that were made again
  std::vector<std::string> lost = {};     // "channel version", where it is not certain what it was
  std::vector<std::string> assumed = {};  // of those made again: by what is usual
};

// Something stored that is not as it should be.
struct StoredProblem {
  enum class Kind {
    missing_value,       // a checkpoint names a version of a channel that is not stored
    damaged_value,       // the bytes cannot be read
    broken_chain,        // the value is a difference from one that is missing or damaged
    damaged_checkpoint,  // the content or metadata of a checkpoint cannot be read
    missing_parent,
    damaged_write,
    wrong_counts,  // what the table of threads says of the thread is not so
    damaged_file,  // SQLite itself cannot read it
  };

  Kind kind;
  std::string thread_id;
  std::string checkpoint_ns = {};
  std::string checkpoint_id = {};  // empty where several share it
  std::string channel = {};
  std::string version = {};
  std::string task_id = {};
  std::string what;  // "is missing", "cannot be read: ..."
};
CLEW_ENUM(StoredProblem::Kind, missing_value, damaged_value, broken_chain, damaged_checkpoint,
          missing_parent, damaged_write, wrong_counts, damaged_file)

struct VerifyOptions {
  // Called now and then with the number of rows that were looked at.
  std::function<void(std::size_t rows)> progress = {};

  // Ends it; the report is then not complete.
  std::stop_token stop = {};
};

struct VerifyReport {
  std::size_t checkpoints = 0;
  std::size_t values = 0;
  std::size_t writes = 0;
  std::vector<StoredProblem> problems = {};
  bool is_complete = true;
};

struct RepairReport {
  std::size_t values = 0;                // made again from writes
  std::size_t assumed = 0;               // of these by what is usual, see BlobRecovery
  std::size_t parents = 0;               // that checkpoints named and that are gone: forgotten
  bool is_counted = false;               // the table of threads was put right
  std::vector<StoredProblem> left = {};  // what could not be repaired
};

class SqliteSaver final : public Checkpointer {
 public:
  // Opens or makes the file; ":memory:" keeps everything in memory. Throws
  // StorageError if the file cannot be used, with the reason.
  static std::shared_ptr<SqliteSaver> open(const std::string& path, SqliteOptions options = {});
  ~SqliteSaver() override;

  // Whether an existing SQLite file has tables of threads, in either layout. Makes nothing.
  static bool is_in(const std::string& path);

  std::optional<CheckpointTuple> get_tuple(const CheckpointKey& key) override;
  // Without a namespace: in the LangGraph layout the newest first whatever its
  // namespace; in the native one namespace by namespace.
  std::vector<CheckpointTuple> list(std::string_view thread_id,
                                    std::optional<std::string_view> checkpoint_ns,
                                    const ListOptions& options) override;
  void put(std::span<const CheckpointPut> puts) override;
  void put_writes(std::span<const WritesPut> puts) override;
  std::vector<DeltaHistory> get_delta_channel_history(
      const CheckpointKey& key, std::span<const std::string> channels) override;

  void delete_thread(std::string_view thread_id) override;
  void copy_thread(std::string_view source, std::string_view target) override;
  void prune(std::string_view thread_id, const PruneOptions& options) override;
  // What prune() would leave of the thread.
  ThreadSize size_after_prune(std::string_view thread_id, const PruneOptions& options);
  void delete_for_runs(std::span<const std::string> run_ids) override;
  std::vector<ThreadInfo> list_threads(const ThreadQuery& query) override;
  ThreadSize thread_size(std::string_view thread_id) override;
  bool stores_all_values() const override;

  // Never `automatic`.
  SqliteLayout layout() const;

  // The rows of a SELECT, each an object by column; what it has of BLOBs are
  // bytes. `parameters` is a list. In the native layout there is also a view
  // `checkpoint_values`: for each row of checkpoint_blobs the whole value, though
  // the row holds a difference; see docs/format/sqlite.md.
  Value query(const std::string& sql, const Value& parameters = clew::list());

  // Makes values that are missing from checkpoint_blobs again, from what
  // checkpoint_writes says the tasks wrote, and those that cannot be read without them. What
  // is not certain stays missing: what several kinds of channels would have made differently,
  // forks, messages without ids, what a run stored at its end; see docs/format/sqlite.md.
  // Native layout only: LangGraph's has no blobs.
  BlobRecovery recover_blobs(std::string_view thread_id, const RecoverOptions& options = {});

  // Looks whether everything of a thread can be read: values and their differences, the
  // content of checkpoints, writes; whether checkpoints have their values and parents;
  // and whether the table of threads says what is so. A parent that is older than all
  // that is stored is no problem: it was pruned. Memory does not grow with the thread.
  VerifyReport verify(std::string_view thread_id, const VerifyOptions& options = {});

  // Repairs what verify() finds, in one transaction: values that are missing or damaged are
  // made again as recover_blobs() does, parents that are gone are forgotten, counts
  // are put right. What tells nothing any more (damaged checkpoints and writes) stays.
  RepairReport repair(std::string_view thread_id, const RecoverOptions& options = {});

  // What SQLite finds wrong with the file; nothing if all is well. Reads all of it.
  std::vector<std::string> check_file();

  // The threads of which anything is stored, also those that list_threads() does not
  // know because something is damaged. By id.
  std::vector<std::string> stored_threads();

  // Gives the space of what was deleted back to the file system.
  void vacuum();

  // How many transactions were committed since the file was opened.
  std::uint64_t commits() const;

 private:
  struct Parts;
  explicit SqliteSaver(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace clew
