// The words of a graph: START and END, Send, Command, Interrupt, Overwrite, and
// the policies of a node.
//
//   return Command{.update = {{"foo", "b"}}, .goto_ = {"node_b"}};
//   return Command{.goto_ = {Send{"worker", {{"i", 1}}}, Send{"worker", {{"i", 2}}}}};
//   graph.invoke(Command{.resume = "yes"}, thread);
//
// All are plain values that convert to a Value and back in LangGraph's stored form.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <clew/value.hpp>

namespace clew {

// The names of a graph's virtual first and last node.
inline constexpr const char* START = "__start__";
inline constexpr const char* END = "__end__";

// When a step's checkpoint must be durable: before the next step starts, while
// it runs, or only when the run ends. Task results follow the same rule.
enum class Durability { sync, async, exit };
CLEW_ENUM(Durability, sync, async, exit)

// What a run tells while it runs; see stream.hpp.
enum class StreamMode { values, updates, custom, messages, tasks, checkpoints, debug };
CLEW_ENUM(StreamMode, values, updates, custom, messages, tasks, checkpoints, debug)

// How long an attempt of a node may take. Past it the attempt fails with
// NodeTimeout, which a retry policy may retry.
struct TimeoutPolicy {
  std::optional<std::chrono::milliseconds> run_timeout;
};

// Runs a node in the next step with an argument of its own instead of the state.
struct Send {
  std::string node;
  Value arg;
  std::optional<TimeoutPolicy> timeout = {};

  friend bool operator==(const Send& a, const Send& b) {
    return a.node == b.node && a.arg == b.arg;
  }
};

// A question that a node asked with interrupt(), waiting for an answer.
struct Interrupt {
  Value value;
  std::string id;

  friend bool operator==(const Interrupt&, const Interrupt&) = default;
};

// Replaces the value of a channel that has a reducer, instead of reducing.
struct Overwrite {
  Value value;
};

// If `value` is an Overwrite in any of its forms, what it holds.
const Value* overwritten(const Value& value);

// Where a Command goes: a node by name, or a Send.
class Goto {
 public:
  Goto(const char* node) : target_(node) {}
  Goto(std::string node) : target_(std::move(node)) {}
  Goto(Send send);

  // The node's name or the Send, in stored form.
  const Value& target() const { return target_; }

 private:
  Value target_;
};

// What a node returns to do more than update the state, and what invoke() takes
// to answer or redirect a thread.
struct Command {
  // Changes to the state: an object, or a list of {key, value} pairs.
  Value update = {};

  // Nodes to run next, in addition to the node's edges.
  std::vector<Goto> goto_ = {};

  // The answer to a pending interrupt, or an object from interrupt ids to answers.
  Value resume = {};

  // Empty: this graph. Command::PARENT: the graph this one runs in.
  std::string graph = {};

  static constexpr const char* PARENT = "__parent__";
};

Value to_value(const Send& send);
Value to_value(const Interrupt& interrupt);
Value to_value(const Overwrite& overwrite);
Value to_value(const Command& command);
void from_value(const Value& value, Send& send);
void from_value(const Value& value, Interrupt& interrupt);
void from_value(const Value& value, Overwrite& overwrite);
void from_value(const Value& value, Command& command);

// Whether a value is one of them, in stored form.
bool is_send(const Value& value);
bool is_command(const Value& value);
bool is_interrupt(const Value& value);

// Runs a failed node again. With several policies the first whose condition
// matches the error applies.
struct RetryPolicy {
  // Attempts in all, the first included.
  int max_attempts = 3;

  // Waits initial_interval, then that times backoff_factor, and so on, up to
  // max_interval, each plus up to a second of jitter.
  std::chrono::milliseconds initial_interval{500};
  double backoff_factor = 2.0;
  std::chrono::milliseconds max_interval{128'000};
  bool jitter = true;

  // Which errors to retry. Empty: all but those that say the program is wrong
  // (std::logic_error, ValueError, TypeError and the like).
  std::function<bool(const std::exception&)> retry_on = {};
};

// Reuses the result of a node for the same input; see cache.hpp.
struct CachePolicy {
  // The part of the input that matters, as text. Empty: all of it.
  std::function<std::string(const Value& input)> key_func = {};

  // How long a result stays good. Nothing: for ever.
  std::optional<std::chrono::seconds> ttl = {};
};

}  // namespace clew
