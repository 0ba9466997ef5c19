// What the streams show of a run: the engine's events in the form of the API, for
// the run's own stream and for the thread-scoped protocol.
//
// Belongs to the run; called by one thread at a time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <clew/stream.hpp>

#include "server/event_log.hpp"
#include "server/records.hpp"

namespace clew::server {

class RunEvents {
 public:
  RunEvents(const Run& run, std::string graph_id);

  // What the engine is to tell.
  StreamOptions options() const;

  std::vector<NewEvent> begin(std::int64_t attempt, const Value& input);
  std::vector<NewEvent> take(const StreamEvent& event);
  // `error` is null unless the run failed. A cancelled run has no more to say
  // in its own stream.
  std::vector<NewEvent> end(std::string_view status, const Value& error);

  // What /wait answers if the run ends well. `open` is what the thread's tasks ask
  // now, {task id: [...]}: questions come in the order of the tasks.
  Value result(const Value& open) const;

  static bool is_mode(std::string_view name);

 private:
  bool wants(std::string_view mode) const { return modes_.contains(std::string(mode)); }
  void add(std::string_view name, const std::vector<std::string>& ns, const Value& data);
  void add_protocol(std::string_view method, const std::vector<std::string>& ns, const Value& data);
  void add_lifecycle(std::string_view event, const std::vector<std::string>& ns, Value more);

  void take_values(const StreamEvent& event);
  void ask(const std::vector<std::string>& ns, const Value& interrupts);
  void end_children();
  void take_message(const StreamEvent& event);
  void take_protocol_chunk(const std::vector<std::string>& ns, const Value& chunk);
  Value accumulated(const Value& message);
  void take_debug(const StreamEvent& event);
  // What a callback event is about: the run itself, or one of its tasks.
  struct Callback {
    std::string id;
    std::string name;
    Value step = {};
    Value triggers = {};
    std::vector<std::string> ns = {};
  };
  struct StartedTask {
    Callback task;
    Value input;
  };
  static Value place_of(const Callback& task);
  void add_callback(std::string_view event, const Callback& of, const Value& data);
  Value with_configurable(const Value& config) const;
  Value as_first_told(const Value& checkpoint) const;
  Value checkpoint_payload(const Value& payload) const;

  const std::string run_id_;
  const std::string graph_id_;
  const Value configurable_;
  const Value metadata_;
  std::set<std::string> modes_;
  bool shows_subgraphs_;
  bool is_of_protocol_;  // was started by it
  std::vector<NewEvent> made_;

  Value last_values_ = {};
  std::vector<Value> interrupts_ = {};  // of the root, as streams have them
  Value asked_in_ = {};                 // the state that the last of them was asked in
  std::set<std::string> asked_ = {};    // ids of interrupts
  bool has_said_interrupted_ = false;
  std::map<std::string, std::vector<std::string>> children_ = {};  // at work, by namespace
  std::map<std::string, Value> messages_ = {};                     // accumulated, by id
  std::set<std::string> open_messages_ = {};                       // of the protocol
  std::map<std::string, StartedTask> tasks_ = {};                  // that have not ended, by id
};

}  // namespace clew::server
