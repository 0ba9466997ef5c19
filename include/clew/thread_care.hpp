// Care for the threads of a checkpointer, whichever it is: removing what nobody
// has used for long, and moving threads to another one.
//
//   Sweeper sweeper(saver, {.ttl = 30 * 24h});              // until it goes
//   copy_threads(*python_saver, *saver);                    // LangGraph's file to Clew's
//
// All functions may be called while threads are in use.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <clew/checkpointer.hpp>

namespace clew {

// What happens to a thread that has not been used for its time to live.
enum class TtlStrategy {
  delete_thread,
  keep_latest,  // its history goes; it can still be continued
};

struct TtlOptions {
  // Counted from the thread's newest checkpoint.
  std::chrono::seconds ttl;

  TtlStrategy strategy = TtlStrategy::delete_thread;

  // How often a Sweeper looks.
  std::chrono::seconds sweep_interval = std::chrono::minutes(5);
};

// Goes through the threads once; returns how many were too old. Those that have a newer
// checkpoint by the time it is their turn stay as they are; a run that goes on with one
// that was deleted gets a ThreadConflict.
std::size_t sweep_threads(Checkpointer& saver, const TtlOptions& options);

// Sweeps in a thread of its own, from now until it is destroyed. What goes wrong
// is tried again at the next interval.
class Sweeper {
 public:
  Sweeper(std::shared_ptr<Checkpointer> saver, TtlOptions options);
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;
  ~Sweeper();

 private:
  struct Worker;
  std::unique_ptr<Worker> worker_;
};

struct CopyProgress {
  std::size_t threads = 0;  // copied so far
  std::size_t skipped = 0;  // that were there already
  std::size_t checkpoints = 0;
  std::size_t writes = 0;
};

struct CopyOptions {
  // Which threads. Empty: all.
  std::vector<std::string> thread_ids = {};

  // What a single thread is called in `to`. Empty: as in `from`.
  std::string as = {};

  // Threads that `to` has already stay there as they are, except for the beginning of
  // a copy that was cut short, which is made anew. Without it such threads are refused,
  // before anything is copied.
  bool skips_existing = false;

  // Called after every thread.
  std::function<void(const CopyProgress&)> progress = {};

  // Ends the copy after the thread that is under way.
  std::stop_token stop = {};
};

// Gives `to` the threads of `from`, under the same ids, and reads each back to
// see that nothing differs. Throws ValueError if `to` has one of them already or
// `from` does not have it, StorageError if a copy differs; such a copy is removed
// from `to` again.
CopyProgress copy_threads(Checkpointer& from, Checkpointer& to, const CopyOptions& options = {});

// Gives `to` one thread, whose checkpoints these are, in any order, as copy_threads() does.
// False if it is there already and `skips_existing`.
bool restore_thread(Checkpointer& to, const std::string& thread_id,
                    std::vector<CheckpointTuple> checkpoints, bool skips_existing);

}  // namespace clew
