// A graph that can run. Made by StateGraph::compile() or entrypoint(); immutable,
// cheap to copy, and usable from any number of threads at once.
//
//   Config thread{.thread_id = "1"};
//   Value result = graph.invoke({{"foo", ""}}, thread);
//   for (const StateSnapshot& s : graph.get_state_history(thread)) std::cout << s << '\n';
//
// Calls block. Their async_ twins are for coroutines: they return a Task that
// does the same without holding the awaiting thread. Streams and histories are
// awaited one element at a time, with their async_next().
//
//   Value input{{"foo", ""}};
//   Value result = co_await graph.async_invoke(input, thread);
//
// In a statement with co_await, name what you pass: g++ 12 frees what is made
// there from braces twice, or does not compile it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <clew/config.hpp>
#include <clew/drawing.hpp>
#include <clew/runtime.hpp>
#include <clew/snapshot.hpp>
#include <clew/stream.hpp>
#include <clew/task.hpp>

namespace clew {

class Checkpointer;

namespace pregel {
class Graph;
}

struct HistoryOptions {
  Value filter = {};        // metadata that must be equal
  std::string before = {};  // only checkpoints older than this id
  std::optional<std::size_t> limit = {};
};

// The node that an update_state() acts for. Empty: the one that ran last.
struct AsNode {
  std::string name = {};
};
inline AsNode as_node(std::string name) { return {std::move(name)}; }

struct StateUpdate {
  Value values;
  std::string as_node = {};
  std::string task_id = {};
};

class CompiledGraph {
 public:
  explicit CompiledGraph(std::shared_ptr<const pregel::Graph> graph) : graph_(std::move(graph)) {}

  // Runs the thread: with new input, or, if `input` is null, from where it
  // stopped, or as a Command says. Returns the output; if nodes asked
  // questions, with them under "__interrupt__".
  // Throws what a node threw, GraphRecursionError, InvalidUpdateError, EmptyInputError,
  // ThreadConflict, Cancelled; Error if thread_id is missing.
  Value invoke(const Value& input, const Config& config = {}) const;
  Task<Value> async_invoke(Value input, Config config) const;
  Task<Value> async_invoke(Value input) const;

  // Runs this graph inside a node of another: checkpointed under that task.
  Value invoke(const Value& input, Runtime& runtime) const;
  Task<Value> async_invoke(Value input, Runtime& runtime) const;

  Stream stream(const Value& input, const Config& config = {}, StreamOptions options = {}) const;

  // Runs all inputs, each with its config, at once; results in order.
  std::vector<Value> batch(std::span<const Value> inputs, std::span<const Config> configs) const;
  Task<std::vector<Value>> async_batch(std::vector<Value> inputs,
                                       std::vector<Config> configs) const;

  // The newest state of the thread, or that of config.checkpoint_id. With
  // `subgraphs`, also the states of the graphs that its tasks run.
  StateSnapshot get_state(const Config& config, bool subgraphs = false) const;
  Task<StateSnapshot> async_get_state(Config config, bool subgraphs = false) const;

  // All states of the thread, newest first, each made when it is reached.
  class History;
  History get_state_history(const Config& config, const HistoryOptions& options = {}) const;

  // Writes `values` as if `as_node` had returned them, and makes a checkpoint
  // of it; at an older checkpoint that is a fork. Returns its config.
  Config update_state(const Config& config, const Value& values, const AsNode& node = {}) const;
  Task<Config> async_update_state(Config config, Value values, AsNode node) const;
  Task<Config> async_update_state(Config config, Value values) const;
  // Several super-steps of several updates each.
  Config bulk_update_state(const Config& config,
                           std::span<const std::vector<StateUpdate>> supersteps) const;
  Task<Config> async_bulk_update_state(Config config,
                                       std::vector<std::vector<StateUpdate>> supersteps) const;

  // The subgraphs of this graph's nodes, by namespace; with `recurse` theirs too.
  std::vector<std::pair<std::string, CompiledGraph>> get_subgraphs(bool recurse = false) const;

  // What to draw of this graph, with the nodes of its subgraphs in their place as
  // far as `xray` goes: get_graph(), get_graph(true), get_graph(2).
  DrawableGraph get_graph(Xray xray = {}) const;

  // JSON Schemas (schema.hpp): of what invoke() takes and returns, of all
  // channels, and of Config::context; the last is null if the graph has no
  // context schema. get_config_jsonschema() is the same under its older name,
  // except that it is an empty object then.
  Value get_input_jsonschema() const;
  Value get_output_jsonschema() const;
  Value get_state_jsonschema() const;
  Value get_context_jsonschema() const;
  Value get_config_jsonschema() const;

  // Forgets cached results of these nodes, or of all.
  void clear_cache(std::span<const std::string> nodes = {}) const;

  const std::string& name() const;
  const pregel::Graph& graph() const { return *graph_; }
  const std::shared_ptr<const pregel::Graph>& shared() const { return graph_; }

 private:
  std::shared_ptr<const pregel::Graph> graph_;
};

// A range of snapshots that is read from the checkpointer as it is walked.
class CompiledGraph::History {
 public:
  class Iterator {
   public:
    using value_type = StateSnapshot;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    explicit Iterator(History* history) : history_(history) { ++*this; }
    const StateSnapshot& operator*() const { return snapshot_; }
    const StateSnapshot* operator->() const { return &snapshot_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& a, std::default_sentinel_t) {
      return a.history_ == nullptr;
    }

   private:
    History* history_;
    StateSnapshot snapshot_;
  };

  // `next` makes its argument the next snapshot, or returns false at the end.
  History(std::function<bool(StateSnapshot&)> next, std::shared_ptr<const pregel::Graph> graph)
      : next_(std::move(next)), graph_(std::move(graph)) {}
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

  // The next snapshot, or nothing at the end. Not while the history is walked otherwise.
  Task<std::optional<StateSnapshot>> async_next();

 private:
  friend class Iterator;
  std::function<bool(StateSnapshot&)> next_;
  std::shared_ptr<const pregel::Graph> graph_;
};

}  // namespace clew
