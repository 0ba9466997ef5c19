// What the server remembers besides checkpoints and store items: assistants,
// threads, runs, crons and events, and what can be asked of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <clew/value.hpp>

namespace clew::server {

using Time = std::chrono::sys_time<std::chrono::microseconds>;

// The values are JSON: null, booleans, numbers, texts, lists and objects.

struct Assistant {
  std::string assistant_id;
  std::string graph_id;
  Value config = object();
  Value context = object();
  Value metadata = object();
  std::string name = "Untitled";
  Value description = {};
  std::int64_t version = 1;
  Time created_at = {};
  Time updated_at = {};
  bool is_system = false;  // made for a graph; everybody sees it
};

struct ThreadTtl {
  std::string strategy = "delete";  // or "keep_latest"
  double minutes = 0;
};

struct Thread {
  std::string thread_id;
  Time created_at = {};
  Time updated_at = {};
  Time state_updated_at = {};
  Value metadata = object();
  Value config = object();
  std::string status = "idle";
  Value values = {};
  // Not there before the first run.
  std::optional<Value> error = {};
  std::optional<Value> interrupts = {};
  std::optional<ThreadTtl> ttl = {};
  std::optional<Time> expires_at = {};
};

struct Run {
  std::string run_id;
  std::string thread_id;
  std::string assistant_id;
  Value metadata = object();
  std::string status = "pending";
  Value kwargs = object();
  std::string multitask_strategy = "enqueue";
  Time created_at = {};
  Time updated_at = {};
  Time due_at = {};          // not started before
  std::int64_t attempt = 0;  // how often it was started
};

inline bool is_unfinished(const Run& run) {
  return run.status == "pending" || run.status == "running";
}

struct Cron {
  std::string cron_id;
  std::string assistant_id;
  std::string thread_id;  // empty: each run has a thread of its own
  std::string user_id;
  std::string schedule;
  Value timezone = {};
  Value payload = object();
  Value metadata = object();
  std::optional<Time> end_time = {};
  std::optional<Time> next_run_date = {};
  Value on_run_completed = {};
  bool enabled = true;
  Time created_at = {};
  Time updated_at = {};
};

// Persisted: never renumber.
enum class EventKind : std::uint8_t {
  run = 1,           // of a run's stream
  run_done = 2,      // the end of a run, for those who follow the thread
  state_update = 3,  // somebody changed the thread's state
  protocol = 4,      // only of the thread-scoped protocol
  checkpoint = 5,    // here the run made one: `name` is its id, `data` its step; nobody is shown it
};

// An event of a thread's history. All views read the same events: a run's
// stream those with a seq, a thread's stream all but `protocol` and `checkpoint`,
// the thread-scoped protocol those with a protocol_seq.
struct Event {
  std::string thread_id;
  std::string run_id;             // empty: of the thread itself
  std::int64_t place = 0;         // in the thread, from 1
  std::int64_t seq = 0;           // in the run, gapless from 1; 0: not in its stream
  std::int64_t protocol_seq = 0;  // in the protocol's history of the thread; 0: not in it
  std::int64_t ms = 0;            // Unix time
  EventKind kind = EventKind::run;
  std::string name;  // "values", "updates|child:1f0c...", of the protocol "lifecycle|child:..."
  std::string data;  // JSON text
  // What told it: the id of a task, or the namespace of a graph. Empty: the run's graph.
  std::string source;

  // What a client gives back to go on after this event: "<ms>-<seq>".
  std::string id() const { return std::to_string(ms) + "-" + std::to_string(seq); }
};

// ---- Questions

struct Page {
  std::size_t limit = 10;
  std::size_t offset = 0;
};

struct Sort {
  std::string by = "created_at";
  bool descending = true;
};

// Rows of a page, and whether there are more after it.
template <class Row>
struct Found {
  std::vector<Row> rows = {};
  bool has_more = false;
};

// In all queries `owner` and `metadata` are entries that the metadata must have,
// nested objects in turn; null for no condition.
struct AssistantQuery {
  Value owner = {};
  Value metadata = {};
  std::optional<std::string> graph_id = {};
  std::optional<std::string> name = {};  // a part of it, in any case
  Sort sort = {};
  Page page = {};
};

struct ThreadQuery {
  Value owner = {};
  Value metadata = {};
  Value values = {};  // entries that the values must have
  std::optional<std::string> status = {};
  std::optional<std::vector<std::string>> ids = {};
  Sort sort = {};
  Page page = {};
};

struct RunQuery {
  std::string thread_id;
  std::optional<std::string> status = {};
  Page page = {};
};

struct CronQuery {
  Value owner = {};
  Value metadata = {};
  std::optional<std::string> assistant_id = {};
  std::optional<std::string> thread_id = {};
  std::optional<bool> enabled = {};
  Sort sort = {};
  Page page = {};
};

// Whether `value` has all that `part` has: entries of objects by key, elements
// of lists anywhere, other values equal. Null as `part` is no condition.
bool contains(const Value& value, const Value& part);

}  // namespace clew::server
