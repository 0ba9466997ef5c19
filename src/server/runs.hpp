// Runs: created, awaited, streamed, cancelled.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/background_runs.hpp"
#include "server/parts.hpp"
#include "server/run_queue.hpp"
#include "server/run_request.hpp"
#include "server/shapes.hpp"

namespace clew::server {

// The end of a run, known now or later.
class RunEnd {
 public:
  // Calls `then` once, with what /wait answers: now if the run has ended, else
  // from a thread that must not wait.
  void then(std::function<void(const Value& result)> then);
  void set(const RunOutcome& outcome);

 private:
  std::mutex mutex_;
  std::optional<Value> result_;
  std::vector<std::function<void(const Value&)>> waiting_;
};

struct StartedRun {
  Value run = {};  // as the API shows it
  std::string thread_id = {};
  std::string run_id = {};
  bool is_resumable = false;  // its events are shown with ids
  bool cancels_on_disconnect = false;
  std::unique_ptr<EventReader> events = {};  // from its first one
  std::shared_ptr<RunEnd> end = {};
};

struct CancelRequest {
  CancelAction action = CancelAction::interrupt;
  std::string why = "interrupt requested via POST /threads/{thread_id}/runs/{run_id}/cancel";
};

class RunService {
 public:
  RunService(ServerParts& parts, EventLog& log, RunQueue& queue)
      : parts_(parts), log_(log), queue_(queue) {}
  RunService(const RunService&) = delete;
  RunService& operator=(const RunService&) = delete;
  ~RunService() { background_->clear(); }

  // ---- Starting

  StartedRun create(const Caller& caller, const std::string& thread_id, const Value& body);
  // On a thread of its own, which goes with the run unless it is to be kept.
  StartedRun create_stateless(const Caller& caller, const Value& body);
  Value create_batch(const Caller& caller, const Value& bodies);
  // Nobody waits for the run now: it can be joined for a while, though its thread be gone.
  void leave(const Caller& caller, StartedRun run);

  // ---- Looking

  Value list(const Caller& caller, const std::string& thread_id, const RunQuery& query,
             const std::vector<std::string>& select);
  Value get(const Caller& caller, const std::string& thread_id, const std::string& run_id);

  // Makes what /join answers: the thread's values, its interrupts, or its error.
  // May wait for the disk.
  using Joined = std::function<Value()>;
  // Calls `then` once, now or from a thread that must not wait, when the run has ended.
  void join(const Caller& caller, const std::string& thread_id, const std::string& run_id,
            std::function<void(Joined)> then);
  // GET .../stream. Empty `stream_modes`: all that the run has.
  std::unique_ptr<EventReader> stream(const Caller& caller, const std::string& thread_id,
                                      const std::string& run_id,
                                      const std::vector<std::string>& stream_modes,
                                      const std::string& last_event_id, bool* is_resumable);

  // ---- Ending

  // Returns when the run is marked; `then`, if given, is called when it has
  // stopped, with what ?wait=1 answers. ServiceError 404 if there is nothing to cancel.
  void cancel(const Caller& caller, const std::string& thread_id, const std::string& run_id,
              const CancelRequest& request, std::function<void(Value)> then);
  // {"thread_id", "run_ids"} or {"status"}.
  void cancel_many(const Caller& caller, const Value& body, CancelAction action);
  // The client of a stream with on_disconnect=cancel has left.
  void disconnect(const std::string& thread_id, const std::string& run_id);
  // With its checkpoints.
  void remove(const Caller& caller, const std::string& thread_id, const std::string& run_id);

  // Made by the server itself, for crons and the protocol; `body` as for create().
  struct Origin {
    bool is_of_protocol = false;
    std::string cron_id = {};
  };
  StartedRun create(const Caller& caller, const std::string& thread_id, const Value& body,
                    const Origin& origin);
  StartedRun create_stateless(const Caller& caller, const Value& body, const Origin& origin);

 private:
  StartedRun start(const Run& run);
  Run insert(Tables& tables, const RunOrder& order, const std::string& executing,
             std::vector<Run>& replaced);
  void replace(const Run& run, const std::vector<Run>& replaced, const std::string& executing);
  Thread find_thread(const Caller& caller, const std::string& thread_id, const char* detail);
  std::optional<bool> is_resumable_run(const Caller& caller, const std::string& thread_id,
                                       const std::string& run_id);
  bool cancel_one(const Run& run, const CancelRequest& request);
  ThreadFacts facts_of_thread(const std::string& thread_id);
  Value joined(const std::string& thread_id, const std::string& run_id, const Value& otherwise);

  ServerParts& parts_;
  EventLog& log_;
  RunQueue& queue_;
  const std::shared_ptr<BackgroundRuns> background_ = std::make_shared<BackgroundRuns>();
};

// As the API shows a run.
Value to_value(const Run& run);

}  // namespace clew::server
