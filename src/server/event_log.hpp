// The events of all runs: numbered, stored, then delivered.
//
//   log.open_run(thread_id, run_id);
//   log.append(thread_id, run_id, {{.name = "values", .data = "{}"}});   // returns at once
//   log.end_run(thread_id, run_id, last_events, change, outcome, done);  // one commit for all
//
//   auto reader = log.read_run(thread_id, run_id, EventLog::Start::beginning());
//   reader->start([&] { ... });                    // called when there may be more
//   while (!(events = reader->next(100)).empty()) ...
//   if (reader->is_over()) ...
//
// What many runs append at a time is one commit. Readers are asked for events;
// one that is slow or idle costs no thread and no memory.
//
// All methods may be called from any thread, those of a reader from one at a time.
// Readers go before the log does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "server/repository.hpp"

namespace clew::server {

// An event before it has a place.
struct NewEvent {
  EventKind kind = EventKind::run;
  std::string name = {};
  std::string data = {};        // JSON text
  bool is_of_protocol = false;  // counts in the history of the thread-scoped protocol
  std::string source = {};      // see Event
};

// How a run ended, for those who wait for it.
struct RunOutcome {
  std::string status = {};  // success, error, interrupted, timeout
  Value result = object();  // what /wait answers
};

class EventReader {
 public:
  virtual ~EventReader() = default;

  // `wake` is called, from any thread, whenever there may be more to read or the
  // stream is over. It must return quickly.
  virtual void start(std::function<void()> wake) = 0;

  // The next events that are stored already, at most `limit`.
  virtual std::vector<Event> next(std::size_t limit) = 0;

  // Whether next() has given all there will ever be.
  virtual bool is_over() = 0;
};

class EventLog {
 public:
  explicit EventLog(Repository& repository);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  // Stores what is left.
  ~EventLog();

  // Where a reader begins.
  struct Start {
    enum class At { beginning, now, after_event };
    At at = At::beginning;
    std::int64_t ms = 0;  // after_event
    std::int64_t seq = 0;

    static Start beginning() { return {}; }
    static Start now() { return {At::now}; }
    static Start after(std::int64_t ms, std::int64_t seq) { return {At::after_event, ms, seq}; }
  };

  using Change = std::function<void(Tables&)>;
  using Done = std::function<void()>;
  using Filter = std::function<bool(const Event&)>;

  // Until end_run() the stream of the run is not over.
  void open_run(const std::string& thread_id, const std::string& run_id);

  // Numbers events in the order of calls and stores them soon, each call whole,
  // with `change`, which does not throw, in the same commit. `done` is called
  // when they are stored, by a thread that must not wait.
  void append(const std::string& thread_id, const std::string& run_id, std::vector<NewEvent> events,
              Change change = {}, Done done = {});

  // append() with the end of the run, durable in full before readers see it.
  void end_run(const std::string& thread_id, const std::string& run_id,
               std::vector<NewEvent> events, Change change, RunOutcome outcome, Done done);

  // Returns when all that was appended to the thread is stored. Throws StorageError
  // after give_up().
  void flush(const std::string& thread_id);

  // For a server that must stop although the disk takes nothing: nobody waits for it
  // any more.
  void give_up();

  // The run ends without another event: it never began, or its thread is gone.
  void drop_run(const std::string& thread_id, const std::string& run_id, const std::string& status);

  // The run gets no end now; its readers end, and who waits for it is not told.
  // For a server that stops.
  void leave_run(const std::string& thread_id, const std::string& run_id);

  // Calls `then` when the run has ended; false, and no call, if it has no end to come.
  bool when_over(const std::string& thread_id, const std::string& run_id,
                 std::function<void(const RunOutcome&)> then);

  // Removes events of a run or of a whole thread, as soon as nobody reads there.
  // A thread's streams then end.
  void erase_run(const std::string& thread_id, const std::string& run_id);
  void erase_thread(const std::string& thread_id);

  // The events of a run's own stream that pass `filter`; without one, all.
  std::unique_ptr<EventReader> read_run(const std::string& thread_id, const std::string& run_id,
                                        Start start, Filter filter = {});
  // Events of a whole thread that pass `filter`; never over while the thread is there.
  std::unique_ptr<EventReader> read_thread(const std::string& thread_id, Start start,
                                           Filter filter);
  // Those of the protocol after `since`.
  std::unique_ptr<EventReader> read_protocol(const std::string& thread_id, std::int64_t since,
                                             Filter filter);

 private:
  class Channel;
  class Reader;
  struct Entry;

  std::shared_ptr<Channel> channel(const std::string& thread_id);
  void release(const std::shared_ptr<Channel>& channel);
  void revive(Channel& channel);
  void wait_for_room();
  void number_and_put(const std::string& thread_id, const std::string& run_id,
                      std::vector<NewEvent> events, Entry entry);
  void put(Entry entry);
  void store_all();
  void store(std::span<Entry> entries);
  void commit(std::span<Entry> entries);
  void publish(std::span<Entry> entries);
  void erase_when_idle(const std::string& thread_id, const std::string& run_id);

  Repository& repository_;

  std::mutex channels_mutex_;
  std::unordered_map<std::string, std::shared_ptr<Channel>> channels_;

  std::mutex queue_mutex_;
  std::condition_variable queue_changed_;
  std::condition_variable room_made_;
  std::vector<Entry> queue_;
  bool is_stopping_ = false;
  std::atomic<bool> has_given_up_ = false;
  std::thread writer_;
};

// Where to go on after the event that a client saw last: of "<ms>-<seq>", "-1" for
// the beginning, "" for what comes from now on. Nothing if it is none of these.
std::optional<EventLog::Start> start_after(std::string_view last_event_id);

}  // namespace clew::server
