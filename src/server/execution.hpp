// One run on its way: from pending to its end.
//
// It is driven by the executor's threads and holds none while its graph waits.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <clew/stream.hpp>
#include <clew/task.hpp>

#include "server/replay.hpp"
#include "server/run_call.hpp"
#include "server/run_events.hpp"
#include "server/run_queue.hpp"
#include "server/shapes.hpp"

namespace clew::server {

class Execution : public std::enable_shared_from_this<Execution> {
 public:
  enum class Stop {
    interrupt,
    rollback,
    shutdown,     // it is to go on after the next start
    thread_gone,  // nobody wants anything of it
  };

  Execution(RunQueue& queue, ServerParts& parts, EventLog& log, Run run);

  const std::string& run_id() const { return run_.run_id; }

  // Begins on a thread of the executor.
  void start();

  // Asks the run to end. False if it has been asked before, unless this counts more.
  bool stop(Stop reason, const std::string& why);

 private:
  void begin();
  void prepare();
  void check_resume();
  void resume_attempt();
  std::vector<Event> told_after(const std::string& checkpoint_id);
  void drive();
  void take(const StreamEvent& event, std::string_view task_id);
  std::string name_checkpoint(const std::string& ns, std::int64_t step);

  void finish(std::exception_ptr error);
  void end(std::string status, const Value& error, const Value& thread_error);
  void roll_back(const Value& thread_error);
  void leave();
  void vanish();
  ThreadFacts look();
  EventLog::Change final_change(std::string status, ThreadFacts facts, Value thread_error,
                                bool fails) const;
  void after_end(const std::string& status, const Value& values, const Value& error);
  void send_webhook(const std::string& status, const Value& values, const Value& error);
  bool is_temporary() const;

  RunQueue& queue_;
  ServerParts& parts_;
  EventLog& log_;
  Run run_;
  std::shared_ptr<const HostedGraph> graph_;
  RunCall call_ = {};
  std::optional<RunEvents> events_;
  Time started_at_ = {};
  std::string head_id_;  // the thread's last checkpoint when this attempt began

  std::stop_source stop_;
  std::mutex mutex_;
  ReplayedEvents replayed_;     // guarded by mutex_ once the run is under way
  std::optional<Stop> reason_;  // guarded by mutex_, as `why_`
  std::string why_;
};

}  // namespace clew::server
