// What a node can ask of the run it is part of.
//
//   graph.add_node("ask", [](const State& state, Runtime& runtime) {
//     Value answer = runtime.interrupt("Go on?");        // pauses; returns when answered
//     runtime.stream_writer({{"progress", 0.5}});        // an event of mode `custom`
//     return Update{{"answer", answer}};
//   });
//
// A Runtime belongs to one attempt of one task. It may be used from other
// threads as long as the node has not returned, except that only the node itself
// may interrupt().
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>

#include <clew/config.hpp>
#include <clew/task.hpp>

namespace clew {

class Store;

namespace pregel {
class TaskRun;
}

// Which task this is.
struct ExecutionInfo {
  std::string thread_id;
  std::string checkpoint_id;
  std::string checkpoint_ns;
  std::string task_id;
  int node_attempt = 1;
};

// The failure that an error handler handles.
struct NodeFailure {
  std::string node;
  std::exception_ptr error;  // null after a restart: only `text` survives
  std::string text;          // as stored: ValueError('boom')
};

class Runtime {
 public:
  explicit Runtime(pregel::TaskRun& run) : run_(&run) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // The configuration of the run.
  const Config& config() const;
  // Config::context of the run.
  const Value& context() const;
  // The same as a struct, default constructed if the run has none.
  //   const auto [tone, times] = runtime.context<Voice>();
  template <class Context>
  Context context() const {
    return context().is_null() ? Context{} : context().template get<Context>();
  }
  // Memory shared by all threads, or nullptr if the graph was compiled without.
  Store* store() const;

  // Asks `question`: pauses the run until the thread is resumed with an answer,
  // then runs the node again from its start, and this time returns the answer.
  // Needs a checkpointer. Several questions of a node are told apart by order.
  // Works by an exception that is not a std::exception: let it pass.
  Value interrupt(Value question);

  // Emits an event of mode `custom`.
  void stream_writer(Value chunk);

  // Emits an event of mode `messages`: a message, or a chunk of one as a model
  // makes it. `metadata` is added to what every such event says. A message with
  // the id of one that was streamed is not told again when the node returns it.
  void stream_message(const Value& message, const Value& metadata = {});

  // entrypoint: what the previous run of the thread returned or saved, or null.
  const Value& previous() const;

  const ExecutionInfo& execution_info() const;
  const std::string& checkpoint_ns() const { return execution_info().checkpoint_ns; }

  // In an error handler: what failed. Throws Error elsewhere.
  const NodeFailure& failure() const;

  // Stops when the run is cancelled or the attempt's timeout passed. Long nodes look at it.
  std::stop_token stop_token() const;

  // co_await runtime.sleep(5ms): lets other tasks use the thread. Ends early
  // when stop_token() stops, with Cancelled or NodeTimeout.
  Task<void> sleep(std::chrono::nanoseconds duration) const;

  pregel::TaskRun& run() const { return *run_; }

 private:
  pregel::TaskRun* run_;
};

}  // namespace clew
