// What the engine should do, done the plain way: a checkpoint is a full copy of
// all that a thread holds, and nothing is shared, versioned or rebuilt.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan.hpp"

namespace clew::property {

// How a call ends: as it should, or with the error of that meaning.
enum class Ending { normal, node_failed, refused, out_of_steps, empty_input, ambiguous_answer };
CLEW_ENUM(Ending, normal, node_failed, refused, out_of_steps, empty_input, ambiguous_answer)

// A write that a channel does not take.
struct Refused {};

struct Write {
  std::string channel;  // of the state, or one of those below
  Value value;
};

// All that a graph holds between two super-steps.
struct State {
  std::map<std::string, Value> values;        // channels that hold something
  std::set<std::string> woken;                // nodes to run, START included
  Value input;                                // what START passes on
  std::vector<std::set<std::string>> joined;  // who has arrived, by join
  std::vector<Value> sends;
  std::set<std::string> last_ran;  // nodes of the last step that had any
  bool is_written = false;         // since the thread began
  bool has_news = false;           // since the last resume
};

// One execution in a step: of a woken node, or of a Send.
struct StepTask {
  std::string name;
  std::optional<std::size_t> send;  // which
  Value input;

  std::string key() const;
};

// What a task did to the state.
struct Effect {
  std::vector<Write> writes;
  std::string woken_node;  // empty for Sends, updates and input
  bool ends_step = false;  // input does not
};

// The state as an object; what the nodes of the next step read.
Value read_values(const State& state);
std::vector<StepTask> step_tasks(const Plan& plan, const State& state);
// The writes that a node's result stands for: updates, gotos, edges, routes.
std::vector<Write> result_writes(const Plan& plan, const State& state, std::string_view node,
                                 const Value& update, const std::vector<std::string>& gotos = {});
// The state after these. Throws Refused.
State apply(const Plan& plan, State state, const std::vector<Effect>& effects);
// The same for a step that is refused: with what was written before the first write to the
// channel that refuses.
State apply_part(const Plan& plan, State state, const std::vector<Effect>& effects);
Write goto_write(const std::string& node);
bool is_delta(std::string_view channel);

// What is stored about a task of an open step.
struct TaskRecord {
  struct Subgraph {
    Value given;                 // what it was started with
    std::vector<Value> answers;  // of its own task
    std::optional<Value> result;
  };

  std::map<std::size_t, Write> writes;  // by position; of several the first stays
  std::set<std::size_t> from_updates;   // positions; those come first
  std::vector<Value> answers;
  bool has_asked = false;
  std::optional<Subgraph> subgraph;

  bool has_finished() const { return !writes.empty(); }
  std::vector<Write> write_list() const;
};

struct ModelCheckpoint {
  std::string id;  // the engine's, once it is known
  std::optional<std::size_t> parent;
  std::string source;
  std::int64_t step = -2;
  State state;
  // The open step: writes and an answer that came with Commands, and its tasks by key.
  std::vector<Write> command_writes;
  std::optional<Value> command_answer;
  std::map<std::string, TaskRecord> tasks;
};

struct Request {
  std::optional<std::size_t> at;  // a checkpoint; nothing: the newest
  std::optional<Value> input;     // else it goes on, or as the Command says
  bool is_command = false;
  Value update;
  std::vector<std::string> gotos;
  std::optional<Value> answer;
  std::map<std::string, Value> answers;  // by the key of the task that asked

  Durability durability = Durability::async;
  int recursion_limit = 25;
  std::set<std::string> failing;  // nodes

  bool has_answer() const { return answer || !answers.empty(); }
};

struct NodeUpdate {
  std::string node;
  Value values;
};

class Model {
 public:
  explicit Model(const Plan& plan) : plan_(plan) {}

  // The calls. Each leaves what it made at the end of `checkpoints`.
  Ending run(const Request& request);
  Ending update(std::optional<std::size_t> at, const std::vector<NodeUpdate>& updates);
  void update_as_input(std::optional<std::size_t> at, const Value& input);
  Ending clear_tasks(std::optional<std::size_t> at);
  void copy(std::optional<std::size_t> at);

  // What a snapshot of the checkpoint shows: as the newest state of the thread
  // (`live`) it has the writes of finished tasks too. Throws Refused.
  Value shown_values(const ModelCheckpoint& checkpoint, bool live) const;
  std::vector<std::string> shown_next(const ModelCheckpoint& checkpoint, bool live) const;
  // The tasks whose questions are open, by key; a snapshot does not show those
  // of nodes that only a Command went to.
  std::vector<std::string> open_questions(const ModelCheckpoint& checkpoint) const;
  std::vector<std::string> shown_questions(const ModelCheckpoint& checkpoint) const;

  const Plan& plan() const { return plan_; }
  bool is_superseded(std::optional<std::size_t> at) const {
    return at && *at + 1 != checkpoints.size();
  }

  std::vector<ModelCheckpoint> checkpoints;  // oldest first
  std::size_t questions_asked = 0;           // by the last run
  // A step was refused under `exit`. What runs next depends on the order in which channels
  // changed, which this model does not know.
  bool has_half_a_step = false;

 private:
  std::optional<std::size_t> base_of(std::optional<std::size_t> at) const;
  ModelCheckpoint base_checkpoint(std::optional<std::size_t> at) const;
  std::vector<Effect> finished_effects(const ModelCheckpoint& checkpoint) const;

  const Plan& plan_;
};

}  // namespace clew::property
