// The identifiers of a run: checkpoint ids, channel versions, task ids, task
// paths and interrupt ids. All are LangGraph's, bit for bit, so that a thread
// written by one is continued by the other without repeating finished tasks.
//
//   std::string id = checkpoint_id(step);            // sorts after every earlier one
//   std::string version = next_version("");          // "00000000000000000000000000000001.0.73..."
//
//   TaskOrigin origin{.checkpoint_id = Uuid::parse(id), .step = 1};
//   std::string task = pull_task_id(origin, "agent", triggers);
//   std::string ns = task_checkpoint_ns("", "agent", task);
//   std::string question = interrupt_id(ns, 0);
//
// Every function may be called from any thread.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <clew/uuid.hpp>

namespace clew {

// ---- Checkpoint ids

// A source of checkpoint ids: UUIDs of version 6 that strictly increase, also
// when the clock stands still or steps back. The clock sequence carries the
// step, the node is 48 fresh random bits. Making one takes no system call.
class CheckpointIds {
 public:
  using Clock = std::function<std::int64_t()>;    // Unix time in nanoseconds
  using Random = std::function<std::uint64_t()>;  // fresh random bits

  // Reads the system clock and the calling thread's random generator.
  CheckpointIds();

  // Both functions are called from whichever thread asks for an id.
  CheckpointIds(Clock clock, Random random);

  CheckpointIds(const CheckpointIds&) = delete;
  CheckpointIds& operator=(const CheckpointIds&) = delete;

  // The id of a checkpoint written in `step`. The empty checkpoint that a
  // thread starts from has step -2.
  Uuid next(std::int64_t step);

 private:
  Clock clock_;
  Random random_;
  std::atomic<std::uint64_t> last_ticks_{0};
};

// A new checkpoint id of this process, greater as text than all before it.
std::string checkpoint_id(std::int64_t step);

// ---- Channel versions

// The version string after `current`, which is empty (no version yet), a
// decimal integer, or a version string; what follows its first dot is not read.
// Two runs racing on a thread may both reach the same integer, so a random tail
// keeps their versions apart. The integer is padded: strings sort as numbers.
// Throws ValueError if `current` is none of these or has no successor.
std::string next_version(std::string_view current);

// The same with the random number given, at least 0 and less than 1.
std::string next_version(std::string_view current, double random);

// The version after `current` for savers that count in integers; 0 is "no
// version yet". Throws ValueError if there is none.
std::int64_t next_integer_version(std::int64_t current);

// ---- Task paths

// Where a task comes from, as LangGraph's path tuples say it. Its string is
// stored with the task's writes and orders them within a super-step.
//
//   TaskPath::of("__pregel_push", TaskPath::pull("workflow"), 0, true)
class TaskPath {
 public:
  using Element = std::variant<std::string, std::int64_t, bool, TaskPath>;

  TaskPath() = default;

  template <class... Elements>
  static TaskPath of(Elements&&... elements) {
    TaskPath path;
    (path.append(std::forward<Elements>(elements)), ...);
    return path;
  }

  // A node triggered by an edge.
  static TaskPath pull(std::string_view node);

  // The `index`-th pending Send.
  static TaskPath push(std::int64_t index);

  // The `index`-th call that the task at `parent` makes.
  static TaskPath call(const TaskPath& parent, std::int64_t index);

  // The error handler of the task at `failed`.
  static TaskPath error_handler(const TaskPath& failed);

  // The `index`-th update of a call to update_state.
  static TaskPath update(std::int64_t index);

  void append(std::string_view text);
  void append(TaskPath path);
  template <std::integral Integer>
  void append(Integer number) {
    if constexpr (std::same_as<Integer, bool>) {
      append_bool(number);
    } else {
      append_integer(static_cast<std::int64_t>(number));
    }
  }

  std::span<const Element> elements() const noexcept;

  friend bool operator==(const TaskPath& a, const TaskPath& b);

 private:
  void append_bool(bool flag);
  void append_integer(std::int64_t number);

  std::vector<Element> elements_;
};

// "~__pregel_push, ~__pregel_pull, workflow, 0000000000, 0000000001"
std::string task_path_str(const TaskPath& path);
// The same as task_path_str(TaskPath::push(index)), at a fraction of the cost.
std::string push_task_path_str(std::int64_t index);

// ---- Task ids

// The checkpoint layout that LangGraph writes today. Task ids are hashed with
// XXH3, as they are since version 2; version 1 used SHA-1.
inline constexpr int kCheckpointVersion = 4;

// Writes that belong to no task, such as those of a Command given as input.
inline constexpr std::string_view kNullTaskId = "00000000-0000-0000-0000-000000000000";

// What the ids of all tasks of one super-step have in common.
struct TaskOrigin {
  // The checkpoint that the step starts from.
  Uuid checkpoint_id;

  // The namespace of the graph that runs the task; empty at the root. For a
  // call it is the namespace of the calling task, as task_checkpoint_ns gives.
  std::string parent_ns{};

  // The step being executed: one more than the checkpoint's own.
  std::int64_t step = 0;

  // The checkpoint's layout version, its field `v`.
  int checkpoint_v = kCheckpointVersion;
};

// A node that runs because an edge triggered it. `triggers` are all trigger
// channels of the node, whether they fired or not, in any order.
std::string pull_task_id(const TaskOrigin& origin, std::string_view node,
                         std::span<const std::string> triggers);

// A node that a Send runs; `index` is the Send's place in the pending ones.
std::string push_task_id(const TaskOrigin& origin, std::string_view node, std::int64_t index);

// A function of the functional API, called by the task at `parent_path`;
// `index` counts the calls of that task.
std::string call_task_id(const TaskOrigin& origin, std::string_view function,
                         const TaskPath& parent_path, std::int64_t index);

// A node that handles the error of another task.
std::string error_handler_task_id(const TaskOrigin& origin, std::string_view handler,
                                  std::string_view failed_task_id);

// What the functions above are made of: the hash of the checkpoint id followed
// by `parts`, written as a UUID whose version and variant are left as they fall.
std::string task_id(const Uuid& checkpoint_id, std::span<const std::string_view> parts,
                    int checkpoint_v = kCheckpointVersion);

// The namespace of a subgraph run by a task: "parent|node:task id".
std::string task_checkpoint_ns(std::string_view parent_ns, std::string_view node,
                               std::string_view task_id);

// The task id of the `index`-th update of update_state, when the checkpoint has
// no prepared task of that node.
std::string update_task_id(const Uuid& checkpoint_id, std::int64_t index);

// The task id of input written to delta channels on top of a checkpoint.
std::string input_writes_id(const Uuid& checkpoint_id);

// Under durability `exit` the delta writes of a whole run are stored with the
// checkpoint it started from, under task ids that keep the order of steps.
// Writes of that checkpoint's own super-step, and input, take the first form;
// writes of later steps take the late form and the late path, which sort after
// everything else. The late form throws ValueError for a negative step.
std::string exit_delta_task_id(std::int64_t step, std::string_view task_id);
std::string exit_delta_late_task_id(std::int64_t step, std::string_view task_id);
std::string exit_delta_late_task_path(std::int64_t step, std::string_view task_path);

// ---- Interrupt ids

// The id of a task's next interrupt. `task_ns` is the task's namespace, as
// task_checkpoint_ns gives; `answered` is how many answers the task already has.
// Older LangGraph gave every interrupt of a task the id for 0 answers.
std::string interrupt_id(std::string_view task_ns, std::int64_t answered);

// The id of a stored interrupt that carries its namespace as a list instead.
std::string legacy_interrupt_id(std::span<const std::string> ns);

// Whether `text` looks like an interrupt id. An object whose keys all do is
// taken as answers by id.
bool is_interrupt_id(std::string_view text) noexcept;

// ---- Hash

// XXH3 with 128 bits and seed 0, as 32 hexadecimal digits, high half first.
std::string xxh3_128_hex(std::string_view bytes);

}  // namespace clew
