#include <clew/compiled_graph.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include <clew/errors.hpp>

#include "checkpoint/thread_query.hpp"
#include "graph/hosted_run.hpp"
#include "pregel/loop.hpp"
#include "pregel/run_metadata.hpp"
#include "pregel/state_access.hpp"
#include "pregel/state_reader.hpp"
#include "pregel/task_status.hpp"

namespace clew {

using pregel::EventSink;
using pregel::Graph;
using pregel::Loop;
using pregel::Scope;
using pregel::StateAccess;
using pregel::StateReader;

namespace {

std::shared_ptr<Checkpointer> root_checkpointer(const Graph& graph) {
  switch (graph.options.subgraph_persistence) {
    case SubgraphPersistence::off: return nullptr;
    case SubgraphPersistence::own:
      throw NoCheckpointerError(
          "a graph compiled to keep its own history is a subgraph; it cannot run by itself");
    case SubgraphPersistence::inherit: break;
  }
  return graph.options.checkpointer;
}

void check_thread(const Config& config) {
  if (config.thread_id.empty()) {
    throw MissingThreadError(
        "the graph has a checkpointer, so the call must say which thread: set Config::thread_id");
  }
}

// The checkpointer of a call that looks at stored states.
std::shared_ptr<Checkpointer> state_checkpointer(const Graph& graph, const Config& config) {
  std::shared_ptr<Checkpointer> saver = root_checkpointer(graph);
  if (!saver) {
    throw NoCheckpointerError(
        "the graph has no checkpointer, so there are no stored states; "
        "compile it with one");
  }
  check_thread(config);
  return saver;
}

void check_run(const Graph& graph, const Config& config) {
  if (config.recursion_limit < 1) throw BadArgumentError("recursion_limit must be at least 1");
  if (root_checkpointer(graph)) check_thread(config);
}

Scope root_scope(const Graph& graph, const Config& config) {
  check_run(graph, config);
  Scope scope;
  scope.config = config;
  scope.checkpointer = root_checkpointer(graph);
  scope.store = graph.options.store;
  scope.durability = config.durability.value_or(Durability::async);
  describe_run(scope);
  return scope;
}

// The graph and its namespace that a call about a subgraph's state means.
struct Target {
  std::shared_ptr<const Graph> graph;
  std::string checkpoint_ns;
};

std::shared_ptr<const Graph> find_subgraph(const std::shared_ptr<const Graph>& graph,
                                           std::string_view path) {
  const std::string_view name = path.substr(0, path.find(pregel::kNamespaceSeparator));
  const pregel::Index node = graph->find_node(name);
  if (node == pregel::kUnknown || graph->nodes[node].subgraphs.empty()) return nullptr;
  const auto& child = graph->nodes[node].subgraphs.front();
  return name.size() == path.size() ? child : find_subgraph(child, path.substr(name.size() + 1));
}

Target find_target(const std::shared_ptr<const Graph>& graph, const Config& config) {
  if (config.checkpoint_ns.empty()) return {graph, {}};
  const std::string path = pregel::node_path(config.checkpoint_ns);
  std::shared_ptr<const Graph> child = find_subgraph(graph, path);
  if (!child) throw SubgraphNotFoundError("there is no subgraph at '" + path + "'");
  const bool is_own = child->options.subgraph_persistence == SubgraphPersistence::own;
  return {std::move(child),
          is_own ? pregel::namespace_without_ids(config.checkpoint_ns) : config.checkpoint_ns};
}

}  // namespace

// Runs ------------------------------------------------------------------------

Value CompiledGraph::invoke(const Value& input, const Config& config) const {
  return Loop::make(graph_, root_scope(*graph_, config), input)->run();
}

namespace {

// Continues the awaiting coroutine on a thread of the executor.
struct Hop {
  Executor& executor;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiter) const {
    executor.post([awaiter] { awaiter.resume(); });
  }
  void await_resume() const noexcept {}
};

// These coroutines start when they are awaited, so they own what they need.
Task<Value> run_later(std::shared_ptr<const Graph> graph, Value input, Config config) {
  Hop hop{graph->executor()};
  co_await hop;
  pregel::LoopAwaiter run(Loop::make(graph, root_scope(*graph, config), input));
  Value result = co_await run;
  co_return result;
}

}  // namespace

Task<Value> CompiledGraph::async_invoke(Value input, Config config) const {
  return run_later(graph_, std::move(input), std::move(config));
}

Task<Value> CompiledGraph::async_invoke(Value input) const {
  return async_invoke(std::move(input), Config());
}

Value CompiledGraph::invoke(const Value& input, Runtime& runtime) const {
  pregel::TaskRun& task = runtime.run();
  return Loop::make(graph_, task.loop.scope_for(task, *graph_), input)->run();
}

namespace {

Task<Value> run_inside(std::shared_ptr<const Graph> graph, Value input, pregel::TaskRun& task) {
  pregel::LoopAwaiter run(Loop::make(graph, task.loop.scope_for(task, *graph), input));
  Value result = co_await run;
  co_return result;
}

}  // namespace

Task<Value> CompiledGraph::async_invoke(Value input, Runtime& runtime) const {
  return run_inside(graph_, std::move(input), runtime.run());
}

namespace {

// Calls `function`, which may block, on a thread of the executor.
template <class F>
Task<std::invoke_result_t<F>> call_elsewhere(std::shared_ptr<const Graph> graph, F function) {
  Hop hop{graph->executor()};
  co_await hop;
  co_return function();
}

}  // namespace

namespace {

// Several runs that somebody waits for; whoever ends the last one wakes him.
class Batch {
 public:
  Batch(std::shared_ptr<const Graph> graph, std::span<const Value> inputs,
        std::span<const Config> configs)
      : graph_(std::move(graph)), inputs_(inputs), configs_(configs), runs_(inputs.size()) {}

  std::vector<Value> run() {
    if (runs_.empty()) return {};
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      graph_->executor().post([this, i] { start(i); });
    }
    ended_.wait();
    std::vector<Value> results;
    results.reserve(runs_.size());
    for (Run& run : runs_) {
      if (run.error) std::rethrow_exception(run.error);
      results.push_back(std::move(run.result));
    }
    return results;
  }

 private:
  struct Run {
    Value result;
    std::exception_ptr error;
  };

  // The loop is made here and goes when the run ends: a large batch has few at a time.
  void start(std::size_t i) {
    try {
      const auto loop = Loop::make(graph_, root_scope(*graph_, configs_[i]), inputs_[i]);
      loop->start([this, i, run = loop.get()](std::exception_ptr outcome) {
        if (!outcome) runs_[i].result = run->result();
        end(i, std::move(outcome));
      });
    } catch (...) {
      end(i, std::current_exception());
    }
  }

  void end(std::size_t i, std::exception_ptr outcome) {
    runs_[i].error = std::move(outcome);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) ended_.set();
  }

  const std::shared_ptr<const Graph> graph_;
  const std::span<const Value> inputs_;
  const std::span<const Config> configs_;
  std::vector<Run> runs_;
  std::atomic<std::size_t> left_{runs_.size()};
  detail::Ended ended_;
};

}  // namespace

std::vector<Value> CompiledGraph::batch(std::span<const Value> inputs,
                                        std::span<const Config> configs) const {
  if (inputs.size() != configs.size()) {
    throw BadArgumentError("batch() takes as many configs as inputs");
  }
  for (const Config& config : configs) check_run(*graph_, config);
  return Batch(graph_, inputs, configs).run();
}

Task<std::vector<Value>> CompiledGraph::async_batch(std::vector<Value> inputs,
                                                    std::vector<Config> configs) const {
  return call_elsewhere(graph_,
                        [self = *this, inputs = std::move(inputs), configs = std::move(configs)] {
                          return self.batch(inputs, configs);
                        });
}

// Streams ---------------------------------------------------------------------

// Between a run and the reader of its events. A run that tells something only between
// its steps is run by the reader, who leaves it as soon as there is something to
// read: no thread is woken, and a run does not go ahead of its reader. One that tells
// something while its nodes run, or whose reader is a coroutine, runs elsewhere.
class Stream::Queue : public std::enable_shared_from_this<Stream::Queue> {
 public:
  Queue(Executor& executor, bool is_readers) : executor_(executor), is_readers_(is_readers) {}

  // To be called once, before anything is read.
  void take(std::shared_ptr<Loop> loop) {
    loop_ = std::move(loop);
    if (!is_readers_) go_on_elsewhere();
  }

  void push(StreamEvent event) {
    std::unique_lock lock(mutex_);
    events_.push_back(std::move(event));
    if (is_waited_for_) changed_.notify_one();
    resume_awaiter(std::move(lock));
  }
  void end(std::exception_ptr error) {
    std::unique_lock lock(mutex_);
    const std::shared_ptr<Loop> ended = std::move(loop_);
    has_ended_ = true;
    error_ = std::move(error);
    changed_.notify_all();
    resume_awaiter(std::move(lock));
  }
  // Whether the run is left to its reader: there is something to read, or he is busy with
  // what he has read since.
  bool leave() {
    const std::lock_guard lock(mutex_);
    if (!is_readers_ || (is_reading_ && events_.empty())) return false;
    is_left_ = true;
    if (is_waited_for_) changed_.notify_one();
    return true;
  }

  // Whether the awaiter is to be resumed later; otherwise pop() does not wait.
  bool await(std::coroutine_handle<> awaiter) {
    const std::lock_guard lock(mutex_);
    if (next_ < taken_.size() || !events_.empty() || has_ended_) return false;
    awaiter_ = awaiter;
    is_readers_ = false;
    if (is_left_) go_on_elsewhere();
    return true;
  }
  std::optional<StreamEvent> pop() {
    if (next_ == taken_.size()) take_events();
    if (next_ < taken_.size()) return std::move(taken_[next_++]);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::nullopt;
  }
  void cancel() {
    stop_.request_stop();
    std::shared_ptr<Loop> dropped;
    std::unique_lock lock(mutex_);
    if (!has_started_) {
      dropped = std::move(loop_);
      is_left_ = false;
      has_ended_ = true;
      error_ = std::make_exception_ptr(Cancelled("the stream was dropped before it was read"));
      return;
    }
    is_readers_ = false;
    if (is_left_) go_on(lock);
    changed_.wait(lock, [this] { return has_ended_; });
  }
  // Stops when the caller's token does, or when nobody listens any more.
  std::stop_token token(std::stop_token caller) {
    if (caller.stop_possible()) {
      forward_.emplace(std::move(caller), std::function<void()>([this] { stop_.request_stop(); }));
    }
    return stop_.get_token();
  }

 private:
  // Elsewhere, as the run that made the event holds locks and goes on.
  void resume_awaiter(std::unique_lock<std::mutex> lock) {
    const std::coroutine_handle<> awaiter = std::exchange(awaiter_, nullptr);
    lock.unlock();
    if (awaiter) executor_.post([awaiter] { awaiter.resume(); });
  }

  // What starts the run, or goes on with it.
  std::function<void()> next_part() {
    is_left_ = false;
    if (std::exchange(has_started_, true)) return [loop = loop_] { loop->resume(); };
    return [loop = loop_, self = shared_from_this()] {
      loop->start([self](std::exception_ptr error) { self->end(std::move(error)); });
    };
  }
  void go_on_elsewhere() { executor_.post(next_part()); }
  void go_on(std::unique_lock<std::mutex>& lock) {
    const std::function<void()> part = next_part();
    lock.unlock();
    part();
    lock.lock();
  }

  void take_events() {
    taken_.clear();
    next_ = 0;
    std::unique_lock lock(mutex_);
    is_reading_ = true;
    while (events_.empty() && !has_ended_) {
      if (is_left_) {
        go_on(lock);
      } else {
        wait(lock);
      }
    }
    is_reading_ = false;
    taken_.swap(events_);
  }

  // Waking a thread costs more than a quick step. Whoever has read all there was of a
  // run that goes ahead naps first, to find the events of many steps together; only if
  // none has come by then is the next one worth waking up for.
  void wait(std::unique_lock<std::mutex>& lock) {
    constexpr std::chrono::milliseconds kNap{1};
    if (!is_readers_) changed_.wait_for(lock, kNap, [this] { return has_ended_; });
    is_waited_for_ = true;
    changed_.wait(lock, [this] { return !events_.empty() || has_ended_; });
    is_waited_for_ = false;
  }

  Executor& executor_;

  // The reader's own: what it took, and how much of it was read.
  std::vector<StreamEvent> taken_;
  std::size_t next_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_readers_;      // the reader is to run it
  bool is_left_ = true;  // nobody runs it now
  bool has_started_ = false;
  std::shared_ptr<Loop> loop_;  // until it has ended
  bool is_reading_ = false;     // the reader wants the next event
  bool is_waited_for_ = false;  // he sleeps until there is one
  std::coroutine_handle<> awaiter_;
  std::vector<StreamEvent> events_;
  bool has_ended_ = false;
  std::exception_ptr error_;
  std::stop_source stop_;
  std::optional<std::stop_callback<std::function<void()>>> forward_;
};

Stream::~Stream() {
  if (queue_) queue_->cancel();
}

Stream::Iterator& Stream::Iterator::operator++() {
  std::optional<StreamEvent> event = queue_->pop();
  if (event) {
    event_ = std::move(*event);
  } else {
    queue_ = nullptr;
  }
  return *this;
}

Task<std::optional<StreamEvent>> Stream::next_of(std::shared_ptr<Queue> queue) {
  struct NextEvent {
    Queue& queue;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> awaiter) const { return queue.await(awaiter); }
    std::optional<StreamEvent> await_resume() const { return queue.pop(); }
  };
  NextEvent next{*queue};
  std::optional<StreamEvent> event = co_await next;
  co_return event;
}

Task<std::optional<StreamEvent>> Stream::async_next() { return next_of(queue_); }

namespace {

// Otherwise a node's events come, or are known to come, before the node has ended.
bool tells_between_steps(const StreamOptions& options) {
  return !options.subgraphs && std::ranges::all_of(options.modes, [](StreamMode mode) {
    return mode == StreamMode::values || mode == StreamMode::updates ||
           mode == StreamMode::checkpoints;
  });
}

std::shared_ptr<EventSink> make_sink(StreamOptions options) {
  auto sink = std::make_shared<EventSink>();
  sink->modes = std::move(options.modes);
  sink->subgraphs = options.subgraphs;
  return sink;
}

}  // namespace

Stream CompiledGraph::stream(const Value& input, const Config& config,
                             StreamOptions options) const {
  const bool is_readers = tells_between_steps(options);
  auto queue = std::make_shared<Stream::Queue>(graph_->executor(), is_readers);
  Scope scope = root_scope(*graph_, config);
  scope.is_stream = true;
  scope.config.stop = queue->token(config.stop);
  scope.sink = make_sink(std::move(options));
  scope.sink->emit = [queue](StreamEvent event, std::string_view) {
    queue->push(std::move(event));
  };
  if (is_readers) scope.leaves = [queue] { return queue->leave(); };
  queue->take(Loop::make(graph_, std::move(scope), input));
  return Stream(std::move(queue));
}

void start_hosted_run(const CompiledGraph& graph, const Value& input, const Config& config,
                      StreamOptions options, RunHost host) {
  Scope scope = root_scope(graph.graph(), config);
  scope.is_stream = true;
  scope.sink = make_sink(std::move(options));
  scope.sink->emit = std::move(host.take_event);
  scope.sink->names_tasks = true;
  scope.name_checkpoint = std::move(host.name_checkpoint);
  auto loop = Loop::make(graph.shared(), std::move(scope), input);
  loop->executor().post([loop, done = std::move(host.done)] { loop->start(done); });
}

// States ----------------------------------------------------------------------

StateSnapshot CompiledGraph::get_state(const Config& config, bool subgraphs) const {
  const std::shared_ptr<Checkpointer> saver = state_checkpointer(*graph_, config);
  const Target target = find_target(graph_, config);
  auto saved = saver->get_tuple({config.thread_id, target.checkpoint_ns, config.checkpoint_id});
  StateSnapshot snapshot;
  if (saved) {
    const bool live = config.checkpoint_id.empty();
    StateReader(target.graph, saver).fill(snapshot, *saved, live, subgraphs);
  } else {
    snapshot = pregel::empty_state(config);
    snapshot.config.checkpoint_ns = target.checkpoint_ns;
  }
  return snapshot;
}

Task<StateSnapshot> CompiledGraph::async_get_state(Config config, bool subgraphs) const {
  return call_elsewhere(graph_, [self = *this, config = std::move(config), subgraphs] {
    return self.get_state(config, subgraphs);
  });
}

namespace {

// A history that is addressed at a checkpoint consists of it, unless the options leave it out.
std::vector<CheckpointTuple> history_of_one(Checkpointer& saver, const CheckpointKey& key,
                                            const HistoryOptions& options) {
  auto saved = saver.get_tuple(key);
  if (!saved || options.limit == 0U) return {};
  if (!options.before.empty() && saved->checkpoint.id >= options.before) return {};
  if (!internal::matches_metadata(saved->metadata, options.filter)) return {};
  std::vector<CheckpointTuple> history;
  history.push_back(std::move(*saved));
  return history;
}

// Reads a history page by page.
class HistoryWalk {
 public:
  HistoryWalk(const Target& target, std::shared_ptr<Checkpointer> saver, const Config& config,
              const HistoryOptions& options)
      : saver_(std::move(saver)),
        reader_(target.graph, saver_),
        thread_id_(config.thread_id),
        checkpoint_ns_(target.checkpoint_ns),
        list_{options.filter, options.before, std::nullopt},
        left_(options.limit) {
    if (config.checkpoint_id.empty()) return;
    page_ = history_of_one(*saver_, {thread_id_, checkpoint_ns_, config.checkpoint_id}, options);
    has_more_ = false;
  }

  // False at the end.
  bool next(StateSnapshot& snapshot) {
    if (position_ == page_.size() && has_more_) turn_page();
    if (position_ == page_.size()) return false;
    reader_.fill(snapshot, page_[position_++], false, false);
    return true;
  }

 private:
  void turn_page() {
    // A query costs more than what it finds. Without one, the memory of a few is soon used again.
    const std::size_t most = saver_->waits_for_device() ? 64 : 3;
    list_.limit = left_ ? std::min(most, *left_) : most;
    page_.clear();  // its memory is used again
    position_ = 0;
    page_ = saver_->list(thread_id_, checkpoint_ns_, list_);
    has_more_ = page_.size() == *list_.limit && !page_.empty();
    if (left_) *left_ -= page_.size();
    if (!page_.empty()) list_.before = page_.back().checkpoint.id;
  }

  const std::shared_ptr<Checkpointer> saver_;
  StateReader reader_;
  const std::string thread_id_;
  const std::string checkpoint_ns_;
  ListOptions list_;
  std::optional<std::size_t> left_;
  std::vector<CheckpointTuple> page_;
  std::size_t position_ = 0;
  bool has_more_ = true;
};

}  // namespace

CompiledGraph::History CompiledGraph::get_state_history(const Config& config,
                                                        const HistoryOptions& options) const {
  const std::shared_ptr<Checkpointer> saver = state_checkpointer(*graph_, config);
  const Target target = find_target(graph_, config);
  auto walk = std::make_shared<HistoryWalk>(target, saver, config, options);
  return History([walk](StateSnapshot& snapshot) { return walk->next(snapshot); }, graph_);
}

Task<std::optional<StateSnapshot>> CompiledGraph::History::async_next() {
  return call_elsewhere(graph_, [next = next_] {
    std::optional<StateSnapshot> snapshot(std::in_place);
    if (!next(*snapshot)) snapshot.reset();
    return snapshot;
  });
}

CompiledGraph::History::Iterator& CompiledGraph::History::Iterator::operator++() {
  if (!history_->next_(snapshot_)) history_ = nullptr;
  return *this;
}

Config CompiledGraph::update_state(const Config& config, const Value& values,
                                   const AsNode& node) const {
  const std::vector<StateUpdate> superstep{{values, node.name, {}}};
  return bulk_update_state(config, {&superstep, 1});
}

Config CompiledGraph::bulk_update_state(
    const Config& config, std::span<const std::vector<StateUpdate>> supersteps) const {
  const std::shared_ptr<Checkpointer> saver = state_checkpointer(*graph_, config);
  if (supersteps.empty()) throw BadArgumentError("there are no super-steps to apply");
  for (const auto& superstep : supersteps) {
    if (superstep.empty()) throw BadArgumentError("a super-step has no updates");
  }
  const Target target = find_target(graph_, config);
  const StateAccess access(target.graph, saver);
  Config current = config;
  current.checkpoint_ns = target.checkpoint_ns;
  bool is_first = true;
  for (const auto& superstep : supersteps) {
    current = access.update(current, superstep, is_first);
    is_first = false;
  }
  return current;
}

Task<Config> CompiledGraph::async_update_state(Config config, Value values, AsNode node) const {
  return call_elsewhere(
      graph_, [self = *this, config = std::move(config), values = std::move(values),
               node = std::move(node)] { return self.update_state(config, values, node); });
}

Task<Config> CompiledGraph::async_update_state(Config config, Value values) const {
  return async_update_state(std::move(config), std::move(values), AsNode());
}

Task<Config> CompiledGraph::async_bulk_update_state(
    Config config, std::vector<std::vector<StateUpdate>> supersteps) const {
  return call_elsewhere(
      graph_, [self = *this, config = std::move(config), supersteps = std::move(supersteps)] {
        return self.bulk_update_state(config, supersteps);
      });
}

// The graph -------------------------------------------------------------------

std::vector<std::pair<std::string, CompiledGraph>> CompiledGraph::get_subgraphs(
    bool recurse) const {
  std::vector<std::pair<std::string, CompiledGraph>> found;
  for (const pregel::Node& node : graph_->nodes) {
    if (node.subgraphs.empty()) continue;
    const CompiledGraph child(node.subgraphs.front());
    found.emplace_back(node.name, child);
    if (!recurse) continue;
    for (auto& [name, graph] : child.get_subgraphs(true)) {
      found.emplace_back(node.name + pregel::kNamespaceSeparator + name, std::move(graph));
    }
  }
  return found;
}

void CompiledGraph::clear_cache(std::span<const std::string> nodes) const {
  Cache* cache = graph_->options.cache.get();
  if (!cache) return;
  if (nodes.empty()) {
    for (const pregel::Node& node : graph_->nodes) {
      cache->clear(pregel::cache_namespace(*graph_, node.name));
    }
  }
  for (const std::string& node : nodes) cache->clear(pregel::cache_namespace(*graph_, node));
}

const std::string& CompiledGraph::name() const { return graph_->name; }

}  // namespace clew
