// Executes runs: one at a time per thread, the oldest first; runs of different
// threads at once, up to the number of workers.
//
// What is pending or running is in the repository, so a queue that starts takes
// up what the last one left, each run from its last checkpoint. A run that waits,
// for its turn or within a node, holds no thread.
//
// All methods may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/parts.hpp"

namespace clew::server {

class Execution;

enum class CancelAction {
  interrupt,  // the run ends as `interrupted`; its checkpoints stay
  rollback,   // the run and its checkpoints are removed
};

struct QueueCounts {
  std::size_t pending = 0;  // now
  std::size_t running = 0;
  std::map<std::string, std::uint64_t> finished = {};  // since the start, by status
};

struct WaitingRun {
  std::chrono::microseconds waited{};  // since it might have begun
  bool is_blocked = false;             // by another run of its thread
};

class RunQueue {
 public:
  RunQueue(ServerParts& parts, EventLog& log);
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;
  ~RunQueue();

  // Takes up what the repository holds. Nothing executes before.
  void start();

  // While it is there nobody else changes the runs of a thread, and none of them
  // begins: for those who look at them, store a change and tell the queue. Not to
  // be kept while a run is awaited.
  class Hold {
   public:
    Hold(RunQueue& queue, const std::string& thread_id);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    RunQueue& queue_;
    const std::string thread_id_;
    std::unique_lock<std::mutex> lock_;
  };

  // The run of a thread that executes now, or "".
  std::string executing(const std::string& thread_id) const;

  // ---- Under a Hold of the thread, after the change is stored

  // A new pending run.
  void add(const Run& run);

  // Pending runs that are no longer to be executed; they are over with `status`.
  void drop(const std::string& thread_id, const std::vector<std::string>& run_ids,
            const std::string& status);

  // Ends the run if it is executing; true if it is. `why` is what the thread's
  // error says.
  bool cancel(const std::string& thread_id, const std::string& run_id, CancelAction action,
              const std::string& why);

  // Ends whatever executes in a thread that is gone.
  void forget_thread(const std::string& thread_id);

  // ----

  QueueCounts counts() const;

  // Those that are due and have not begun, in any order.
  std::vector<WaitingRun> waiting() const;

  // Takes no more work and asks what executes to stop at its next checkpoint;
  // waits up to `limit`. What was not done stays in the repository for the next
  // start. False if something still executes.
  bool stop(std::chrono::milliseconds limit);

 private:
  friend class Execution;
  struct Line;
  struct State;

  void pump();
  // `status` is empty if the run has no end yet.
  void end(const std::string& thread_id, const std::string& run_id, const std::string& status);
  void wake_at(Time due, const std::string& thread_id);

  ServerParts& parts_;
  EventLog& log_;
  std::shared_ptr<State> state_;
};

}  // namespace clew::server
