// A task of a super-step: one execution of a node, a Send, a functional call, or
// an error handler.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <clew/functional.hpp>
#include <clew/runtime.hpp>

#include "pregel/thread_state.hpp"

namespace clew::pregel {

class Loop;

// Thrown through a node when it asks a question. Not a std::exception, so that
// nodes which catch those let it pass.
struct GraphInterrupt {
  std::vector<Interrupt> interrupts;
};

// Thrown when a Command is meant for the graph around this one.
struct ParentCommand {
  Command command;
};

enum class TaskKind { pull, push, call, error_handler };

// The answers a task has, and how many of what it has asked for. A retry starts
// counting questions anew, so that it finds its answers again.
struct Scratchpad {
  std::vector<Value> resume;
  std::size_t interrupts = 0;
  std::atomic<std::int64_t> calls{0};
  std::atomic<std::int64_t> subgraphs{0};
};

class TaskRun {
 public:
  TaskRun(Loop& run_loop, TaskKind task_kind, const Node& of_node)
      : loop(run_loop), kind(task_kind), node(&of_node), name(of_node.name), runtime(*this) {}
  TaskRun(Loop& run_loop, std::shared_ptr<const TaskFunction::Spec> of_call)
      : loop(run_loop),
        kind(TaskKind::call),
        call(std::move(of_call)),
        name(call->name),
        runtime(*this) {}
  TaskRun(const TaskRun&) = delete;
  TaskRun& operator=(const TaskRun&) = delete;

  Loop& loop;
  const TaskKind kind;
  const Node* const node = nullptr;                      // none for a call
  const std::shared_ptr<const TaskFunction::Spec> call;  // call only
  const std::string& name;                               // of the node or the function
  std::int64_t index = 0;                                // push: of the Send; call: of the call
  std::optional<TimeoutPolicy> send_timeout;             // push: if the Send has one of its own
  TaskRun* parent = nullptr;  // call: the caller; handler: the failed task

  Value input;
  std::vector<Write> writes;
  Scratchpad scratchpad;
  int attempt = 1;
  bool is_retry = false;  // subgraphs continue where the last attempt stopped
  bool is_started = false;
  bool is_done = false;
  bool is_timed = false;     // its duration is noted
  bool is_in_round = false;  // one of several of its step
  std::exception_ptr error;
  std::unique_ptr<const NodeFailure> failure;      // error handler only
  std::shared_ptr<std::stop_source> attempt_stop;  // if the attempt has a time limit
  std::stop_token caller_stop;                     // call only: the caller's, at that time
  Runtime runtime;

  // Where the task comes from, as text and as list.
  const std::string& path_text();
  Value path() const;
  // Made when first asked for: most runs without a checkpointer never do.
  const std::string& id();
  const std::string& checkpoint_ns();
  const ExecutionInfo& execution_info();

  const NodeBody& body() const { return call ? call->body : node->body; }
  // A function without a policy of its own has that of the entrypoint it is called in.
  const std::vector<RetryPolicy>& retry_policies() const;
  const std::optional<CachePolicy>& cache_policy() const;
  const std::optional<TimeoutPolicy>& timeout() const {
    if (send_timeout) return send_timeout;
    return call ? call->options.timeout : node->options.timeout;
  }
  bool is_hidden() const { return node && node->is_hidden; }
  Value triggers() const;
  TaskWrites as_writes();

  // What asks an attempt to stop: its time limit, or whatever stops all that is around it.
  std::stop_token stop_token() const;
  std::stop_token stop_around() const;
  // Throws Cancelled if the run was stopped, NodeTimeout if the attempt was.
  void check_stopped() const;
  [[noreturn]] void throw_timeout() const;

  // Runtime::interrupt.
  Value interrupt(Value question);

 private:
  // Of the entrypoint around a call; nullptr if a node of a graph called.
  const NodeOptions* entrypoint_options() const;

  std::string id_;
  std::string checkpoint_ns_;
  std::string path_text_;
  std::mutex info_mutex_;  // nodes may ask from threads of their own
  std::unique_ptr<ExecutionInfo> execution_info_;
};

// The writes of a step's tasks, in the order in which they are applied.
template <class Task>
std::vector<TaskWrites> in_order(std::vector<Task*> tasks) {
  std::sort(tasks.begin(), tasks.end(), [](Task* a, Task* b) {
    const bool are_sends = a->kind == TaskKind::push && b->kind == TaskKind::push;
    return are_sends ? a->index < b->index : a->path_text() < b->path_text();
  });
  std::vector<TaskWrites> writes;
  writes.reserve(tasks.size());
  for (Task* task : tasks) writes.push_back(task->as_writes());
  return writes;
}

}  // namespace clew::pregel
