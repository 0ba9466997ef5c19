// Workflows as plain functions whose expensive parts are tasks. A task that
// finished is not run again when the workflow is resumed.
//
//   auto write_essay = task("write_essay", [](const std::string& topic) { return essay(topic); });
//
//   auto workflow = entrypoint("workflow", [=](const std::string& topic, Runtime& runtime) {
//     Value essay = write_essay(runtime, topic).result();
//     Value approved = runtime.interrupt({{"essay", essay}});
//     return Value{{"essay", essay}, {"approved", approved}};
//   }, {.checkpointer = saver});
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <clew/graph.hpp>

namespace clew {

namespace pregel {
class Call;
}

// Return this from an entrypoint to save something else than it returns.
struct Final {
  Value value;  // the result of the run
  Value save;   // what the next run of the thread sees as previous()
};
Value to_value(const Final& final);

// The result of a task that is running or has run.
class Future {
 public:
  explicit Future(std::shared_ptr<pregel::Call> call) : call_(std::move(call)) {}

  // Waits. Throws what the task threw, also if it asked a question.
  Value result() const;

 private:
  std::shared_ptr<pregel::Call> call_;
};

struct TaskOptions {
  std::vector<RetryPolicy> retry_policy = {};
  std::optional<CachePolicy> cache_policy = {};
  std::optional<TimeoutPolicy> timeout = {};
};

// A function that can be called from an entrypoint or from another task.
class TaskFunction {
 public:
  TaskFunction(std::string name, NodeBody body, TaskOptions options);

  // Starts it with this argument, or finds the result it had before.
  Future operator()(Runtime& runtime, Value argument = {}) const;

  struct Spec {
    std::string name;
    NodeBody body;
    TaskOptions options;
  };

 private:
  std::shared_ptr<const Spec> spec_;
};

template <class F>
TaskFunction task(std::string name, F function, TaskOptions options = {}) {
  using In = typename detail::InputOf<F, Value>::Type;
  static_assert(detail::NodeCallable<F, In>,
                "a task is a function of one argument, or of one argument and a Runtime&");
  return TaskFunction(std::move(name), detail::make_node_body<F, In>(std::move(function)),
                      std::move(options));
}

CompiledGraph make_entrypoint(std::string name, NodeBody body, NodeOptions node,
                              CompileOptions options);

// A workflow: runs, resumes and keeps its history like any graph.
template <class F>
CompiledGraph entrypoint(std::string name, F function, CompileOptions options = {},
                         NodeOptions node = {}) {
  using In = typename detail::InputOf<F, Value>::Type;
  static_assert(detail::NodeCallable<F, In>,
                "an entrypoint is a function of the input, or of the input and a Runtime&");
  return make_entrypoint(std::move(name), detail::make_node_body<F, In>(std::move(function)),
                         std::move(node), std::move(options));
}

}  // namespace clew
