// A super-step's tasks: started together, finished in any order, committed one
// by one as they finish.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "pregel/call.hpp"
#include "pregel/errors.hpp"
#include "pregel/loop.hpp"
#include "pregel/pause.hpp"
#include "pregel/state_access.hpp"
#include "pregel/task_status.hpp"

namespace clew::pregel {
namespace {

using Clock = std::chrono::steady_clock;

// Starts a task without anyone waiting for it; it reports by itself when done.
detail::Detached run_detached(Task<void> task) { co_await std::move(task); }

std::chrono::nanoseconds backoff(const RetryPolicy& policy, int failures) {
  double milliseconds = static_cast<double>(policy.initial_interval.count());
  for (int i = 1; i < failures; ++i) milliseconds *= policy.backoff_factor;
  milliseconds = std::min(milliseconds, static_cast<double>(policy.max_interval.count()));
  if (policy.jitter) {
    thread_local std::minstd_rand random(std::random_device{}());
    milliseconds += std::uniform_real_distribution<>(0, 1000)(random);
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(milliseconds, 1e12) * 1e6));
}

bool matches(const RetryPolicy& policy, const std::exception& error) {
  return policy.retry_on ? policy.retry_on(error) : is_retryable(error);
}

// Waits, or until the run is cancelled.
void pause_thread(std::chrono::nanoseconds delay, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, delay, [] { return false; });
}

// The time that an attempt of a task may take. Nobody can stop a node from
// outside: it is asked to through its stop token, and has failed if it ends late.
class TimeLimit {
 public:
  explicit TimeLimit(TaskRun& task) : task_(task) {
    const std::optional<TimeoutPolicy>& policy = task.timeout();
    if (!policy || !policy->run_timeout) return;
    // Longer ones do not fit into the clock.
    constexpr std::chrono::hours kLongest(24 * 365 * 100);
    limit_ = std::min<std::chrono::milliseconds>(*policy->run_timeout, kLongest);
    const auto stop = std::make_shared<std::stop_source>();
    task.attempt_stop = stop;
    run_stopped_.emplace(task.stop_around(), [stop] { stop->request_stop(); });
    // First the time: a node that ends when it is asked to must be late.
    begin_ = Clock::now();
    deadline_.emplace(task.loop.graph().deadlines, task.loop.executor(), begin_ + *limit_, stop);
  }

  void check() const {
    if (limit_ && Clock::now() - begin_ >= *limit_) task_.throw_timeout();
  }

 private:
  const TaskRun& task_;
  std::optional<std::chrono::milliseconds> limit_;
  std::optional<std::stop_callback<std::function<void()>>> run_stopped_;
  Clock::time_point begin_;
  std::optional<Deadlines::Deadline> deadline_;
};

// Whether a graph inside the task was cancelled because the time of the task was over.
bool was_stopped_by_limit(const TaskRun& task) {
  if (!task.attempt_stop || !task.attempt_stop->stop_requested()) return false;
  if (task.stop_around().stop_requested()) return false;
  try {
    std::rethrow_exception(task.error);
  } catch (const Cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

std::exception_ptr timeout_of(const TaskRun& task) {
  try {
    task.throw_timeout();
  } catch (...) {
    return std::current_exception();
  }
}

// The enclosing graph's namespace, without numbers that tell calls apart.
std::string parent_graph_namespace(std::string_view ns) {
  const auto drop_last = [&ns] {
    const std::size_t separator = ns.rfind(kNamespaceSeparator);
    ns = separator == std::string_view::npos ? std::string_view() : ns.substr(0, separator);
  };
  const auto ends_in_number = [&ns] {
    const std::string_view last = ns.substr(ns.rfind(kNamespaceSeparator) + 1);
    return !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
  };
  while (ends_in_number()) drop_last();
  drop_last();
  while (ends_in_number()) drop_last();
  return std::string(ns);
}

}  // namespace

void Loop::check_cancelled() const {
  if (!scope_.config.stop.stop_requested()) return;
  if (!scope_.checkpointer) throw Cancelled("the run was cancelled");
  throw Cancelled("the run was cancelled; the thread can be continued from checkpoint " +
                  checkpoint_.id);
}

void Loop::start(Done done) {
  done_ = std::move(done);
  std::exception_ptr error;
  try {
    enter();
    has_entered_ = true;
  } catch (...) {
    error = std::current_exception();
  }
  if (error) return finish(std::move(error));
  advance();
}

void Loop::advance() {
  // Not held here when the run ends: it then belongs to whoever waits for the run.
  std::exception_ptr error;
  try {
    while (true) {
      if (scope_.leaves && scope_.leaves()) return;
      if (!tick()) break;
      check_cancelled();
      if (std::exchange(is_step_unsaved_, false)) saves_.flush();
      match_cached_writes();
      if (!run_tasks()) return;
      check_errors();
      if (!end_step()) return;
    }
  } catch (...) {
    error = std::current_exception();
  }
  finish(std::move(error));
}

// Runs the tasks that have no result yet. The thread that calls it takes part,
// so that a step makes progress even if no other thread is free; it does not
// wait for tasks that others took. Only a reader of events leaves slow ones to others:
// he must see what each of several tasks, or of the calls of one, tells when it ends.
bool Loop::run_tasks() {
  const auto is_runnable = [](const auto& task) { return task->writes.empty(); };
  const auto count = std::count_if(tasks_.begin(), tasks_.end(), is_runnable);
  if (count == 0) return true;
  // Nobody else looks at them before there are tasks.
  outstanding_.store(static_cast<std::size_t>(count) + 1, std::memory_order_relaxed);
  running_.store(static_cast<std::size_t>(count), std::memory_order_relaxed);
  alone_ = nullptr;
  if (count == 1) {
    TaskRun& task = **std::find_if(tasks_.begin(), tasks_.end(), is_runnable);
    if (tells_with_step()) alone_ = &task;
    run_alone(task);
  } else {
    std::vector<TaskRun*> runnable;
    for (const auto& task : tasks_) {
      if (is_runnable(task)) runnable.push_back(task.get());
    }
    for (TaskRun* task : runnable) task->is_timed = task->is_in_round = true;
    const auto round = std::make_shared<Round>(std::move(runnable));
    round->most_under_way = scope_.config.max_concurrency;
    limited_ = round->most_under_way > 0 ? round : nullptr;
    const bool takes_part = !scope_.leaves || are_quick(*round);
    ask_for_help(round, takes_part);
    if (takes_part) run_some(*round);
  }
  return give_token();
}

// Whoever gives back the last token goes on with the run. Nobody can add one to the
// last, so that one need not be taken off.
bool Loop::give_token() {
  return outstanding_.load(std::memory_order_acquire) == 1 ||
         outstanding_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

bool Loop::tells_with_step() const {
  if (!scope_.sink || scope_.parent) return false;
  return !scope_.sink->subgraphs && !wants(StreamMode::custom) && !wants(StreamMode::messages);
}

void Loop::run_alone(TaskRun& task) {
  task.is_timed = static_cast<bool>(scope_.leaves);
  const bool is_left_to_others = scope_.leaves && !graph_->is_quick(*task.node);
  if (is_left_to_others) {
    executor_.post([self = shared_from_this(), &task] { self->execute(task); });
  } else if (is_awaited(task)) {
    execute(task);
  } else {
    run_in_place(task);
  }
}

// A function that no other task runs beside, apart from its own calls. It needs no token, as
// it has ended when this returns; and if no call of it runs, nobody can add to the counters.
void Loop::run_in_place(TaskRun& task) {
  outstanding_.store(1, std::memory_order_relaxed);
  run_function(task);
  if (running_.load(std::memory_order_relaxed) == 1) {
    running_.store(0, std::memory_order_relaxed);
  } else {
    running_.fetch_sub(1, std::memory_order_relaxed);
  }
  settle(task);
}

bool Loop::are_quick(const Round& round) const {
  return std::all_of(round.tasks.begin(), round.tasks.end(),
                     [this](TaskRun* task) { return graph_->is_quick(*task->node); });
}

// Others join at once up to the number of processors, unless all tasks are of
// nodes that were quick so far: waking a thread takes longer than they do. Tasks
// that wait rather than compute get more: every millisecond that some have not
// started, as many again.
void Loop::ask_for_help(const std::shared_ptr<Round>& round, bool takes_part) {
  const std::size_t count = round->tasks.size();
  const std::size_t most = scope_.config.max_concurrency;
  const std::size_t own = takes_part ? 1 : 0;
  round->most_helpers = (most > 0 ? std::min(most, count) : count) - own;
  const std::size_t at_once =
      are_quick(*round) ? 1 : std::max<std::size_t>(1, executor_.parallelism());
  round->helpers = std::min(round->most_helpers, at_once - own);
  for (std::size_t i = 0; i < round->helpers; ++i) executor_.post(helper(round));
  if (!round->may_need_more()) return;
  {
    const std::lock_guard lock(mutex_);
    watched_ = round;
    // Once per run is enough, however many steps it sees.
    if (std::exchange(is_watching_, true)) return;
  }
  graph_->watch->add(executor_, [weak = weak_from_this(), seen = round]() mutable {
    const std::shared_ptr<Loop> self = weak.lock();
    return self && self->call_for_more(seen);
  });
}

// A millisecond after `seen` was under way; it then is the round that is. Returns
// whether to look again.
bool Loop::call_for_more(std::shared_ptr<Round>& seen) {
  std::size_t more = 0;
  {
    const std::lock_guard lock(mutex_);
    is_watching_ = watched_->may_need_more();
    if (!is_watching_) return false;
    const bool is_late = std::exchange(seen, watched_) == watched_;
    if (is_late) {
      more = std::min({seen->waiting(), seen->helpers + 1, seen->most_helpers - seen->helpers});
    }
    seen->helpers += more;
  }
  for (std::size_t i = 0; i < more; ++i) executor_.post(helper(seen));
  return true;
}

// One that comes when the run is over does not keep it alive till then: whoever
// still runs a task does.
std::function<void()> Loop::helper(const std::shared_ptr<Round>& round) {
  return [weak = weak_from_this(), round] {
    if (const std::shared_ptr<Loop> self = weak.lock()) self->run_some(*round);
  };
}

void Loop::run_some(Round& round) {
  while (TaskRun* task = round.take()) execute(*task);
}

void Loop::task_done() {
  if (!give_token()) return;
  // The thread that started the step has left; this one goes on.
  std::exception_ptr error;
  try {
    check_errors();
    if (!end_step()) return;
  } catch (...) {
    error = std::current_exception();
  }
  if (error) return finish(std::move(error));
  advance();
}

// One task ---------------------------------------------------------------------

bool Loop::is_awaited(const TaskRun& task) {
  const NodeBody& body = task.body();
  return body.coroutine || (body.subgraph && !task.is_hidden());
}

void Loop::execute(TaskRun& task) {
  if (is_awaited(task)) {
    run_detached(execute_coroutine(task));
    return;
  }
  run_function(task);
  finish_task(task);
}

// A node may tell something from several threads, so it is known who tells it.
void Loop::name_task(TaskRun& task) const {
  if (scope_.sink && scope_.sink->names_tasks) task.id();
}

void Loop::run_function(TaskRun& task) {
  name_task(task);
  const NodeBody& body = task.body();
  while (true) {
    std::exception_ptr error;
    task.writes.clear();
    try {
      check_cancelled();
      const TimeLimit limit(task);
      const auto begin = task.is_timed ? Clock::now() : Clock::time_point();
      const Value result = body.function ? body.function(task.input, task.runtime) : task.input;
      limit.check();
      write_task_result(task, result);
      if (task.is_timed) graph_->note_duration(*task.node, Clock::now() - begin);
    } catch (...) {
      error = std::current_exception();
    }
    if (!error && !task.error) break;
    const auto delay = after_attempt(task, error);
    if (!delay) break;
    pause_thread(*delay, scope_.config.stop);
  }
}

Task<void> Loop::execute_coroutine(TaskRun& task) {
  const std::shared_ptr<Loop> self = shared_from_this();
  name_task(task);
  while (true) {
    std::exception_ptr error;
    task.writes.clear();
    try {
      check_cancelled();
      const TimeLimit limit(task);
      Value result;
      if (task.body().coroutine) {
        Task<Value> attempt = task.body().coroutine(task.input, task.runtime);
        result = co_await std::move(attempt);
      } else {
        Task<Value> attempt = run_subgraph(task);
        result = co_await std::move(attempt);
      }
      limit.check();
      write_task_result(task, result);
    } catch (...) {
      error = std::current_exception();
    }
    const auto delay = after_attempt(task, error);
    if (!delay) break;
    // A stop ends the pause, and then the next attempt before it begins.
    Pause until_retry(executor_, *delay, scope_.config.stop);
    co_await until_retry;
  }
  finish_task(task);
}

void Loop::write_task_result(TaskRun& task, const Value& result) {
  emit_messages(task, result);
  if (task.call) {
    task.writes.push_back({Value(kReturn), result, kUnknown});
    return;
  }
  write_result(*task.node, result, task, task.writes);
}

// Decides after an attempt whether there is another, and how long to wait for
// it. What the user's own functions throw here is the failure of the task.
std::optional<std::chrono::nanoseconds> Loop::after_attempt(TaskRun& task,
                                                            std::exception_ptr error) {
  task.error = error;
  if (!error) return std::nullopt;
  try {
    if (was_stopped_by_limit(task)) task.error = timeout_of(task);
    return next_attempt(task);
  } catch (...) {
    task.error = std::current_exception();
    return std::nullopt;
  }
}

std::optional<std::chrono::nanoseconds> Loop::next_attempt(TaskRun& task) {
  try {
    std::rethrow_exception(task.error);
  } catch (ParentCommand& command) {
    if (handle_parent_command(task, command)) {
      task.error = nullptr;
    } else {
      task.error = std::make_exception_ptr(command);
    }
  } catch (const GraphInterrupt&) {
  } catch (const Cancelled&) {
  } catch (const std::exception& e) {
    const auto& policies = task.retry_policies();
    const auto policy = std::find_if(policies.begin(), policies.end(),
                                     [&](const RetryPolicy& p) { return matches(p, e); });
    if (policy == policies.end() || task.attempt >= policy->max_attempts) return std::nullopt;
    const std::chrono::nanoseconds delay = backoff(*policy, task.attempt);
    ++task.attempt;
    task.is_retry = true;
    task.scratchpad.interrupts = 0;
    return delay;
  } catch (...) {
  }
  return std::nullopt;
}

// A Command for a graph around: ours if it names this task's graph, else it
// goes on outwards. `graph` then says which graph it is for.
bool Loop::handle_parent_command(TaskRun& task, ParentCommand& command) {
  const std::string& ns = task.checkpoint_ns();
  const std::string& graph = command.command.graph;
  if (graph == ns || graph == node_path(ns) || graph == task.name) {
    Command ours = command.command;
    ours.graph.clear();
    // The answers that led here stay on record.
    std::erase_if(task.writes, [](const Write& write) { return !write.is(kResume); });
    write_result(*task.node, ours, task, task.writes);
    return true;
  }
  if (graph == Command::PARENT) command.command.graph = parent_graph_namespace(ns);
  return false;
}

void Loop::finish_task(TaskRun& task) {
  running_.fetch_sub(1, std::memory_order_relaxed);
  settle(task);
  task_done();
}

void Loop::settle(TaskRun& task) {
  try {
    // Its own copy: whatever handles the failure takes it from the task.
    commit(task, std::exception_ptr(task.error));
  } catch (...) {
    task.error = std::current_exception();
  }
  if (task.kind == TaskKind::call) {
    const std::lock_guard lock(mutex_);
    task.is_done = true;
    calls_done_.notify_all();
  }
  if (limited_ && task.is_in_round) make_way(task);
}

// The next task may begin. Whoever ran a function goes on with it; of a coroutine, which may
// end anywhere, somebody else has to. He keeps the run alive, as nobody else may do till then.
void Loop::make_way(TaskRun& ended) {
  limited_->under_way.fetch_sub(1, std::memory_order_acq_rel);
  const bool is_left_to_others = !ended.body().function;
  if (!is_left_to_others || limited_->waiting() == 0) return;
  executor_.post([self = shared_from_this(), round = limited_] { self->run_some(*round); });
}

// Makes the outcome of a task durable and tells about it.
void Loop::commit(TaskRun& task, const std::exception_ptr& error) {
  if (error) return commit_failure(task, error);
  const bool is_silent = std::all_of(task.writes.begin(), task.writes.end(), is_control_write);
  if (is_silent) task.writes.push_back({Value(kNoWrites), {}, kUnknown});
  put_writes(task, task.writes);
}

void Loop::commit_failure(TaskRun& task, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const GraphInterrupt& interrupt) {
    if (interrupt.interrupts.empty()) return;
    std::vector<Write> writes{{Value(kInterrupt), Value(interrupt.interrupts), kUnknown}};
    for (const Write& write : task.writes) {
      if (write.is(kResume)) writes.push_back(write);
    }
    put_writes(task, writes);
  } catch (const ParentCommand&) {
  } catch (const Cancelled&) {
  } catch (...) {
    const std::string text = python_repr(error);
    task.writes.push_back({Value(kError), text, kUnknown});
    const bool has_handler = task.node && task.node->error_handler != kUnknown;
    if (has_handler) task.writes.push_back({Value(kErrorSourceNode), task.name, kUnknown});
    put_writes(task, task.writes);
    if (has_handler) schedule_error_handler(task, error, text);
  }
}

// Runs in the same step, after the failure is on record.
void Loop::schedule_error_handler(TaskRun& failed, std::exception_ptr error, std::string text) {
  failed.error = nullptr;
  std::shared_ptr<TaskRun> handler;
  {
    const std::lock_guard lock(mutex_);
    handler = prepare_error_handler(failed, error, std::move(text));
    tasks_.push_back(handler);
    ++outstanding_;
    ++running_;
  }
  execute(*handler);
}

// After the step: the first failure in the order of tasks, or all questions. That a graph
// inside one of them could not be stored is not hidden by the failure of another.
void Loop::check_errors() {
  GraphInterrupt interrupted;
  bool is_interrupted = false;
  std::exception_ptr cancelled;
  std::exception_ptr failure;
  std::exception_ptr storing_error;
  for (const auto& task : tasks_) {
    if (task->kind == TaskKind::call || !task->error) continue;
    try {
      std::rethrow_exception(task->error);
    } catch (const GraphInterrupt& interrupt) {
      is_interrupted = true;
      interrupted.interrupts.insert(interrupted.interrupts.end(), interrupt.interrupts.begin(),
                                    interrupt.interrupts.end());
    } catch (const Cancelled&) {
      cancelled = task->error;
    } catch (const StorageError&) {
      if (!storing_error) storing_error = task->error;
    } catch (const ThreadConflict&) {
      if (!storing_error) storing_error = task->error;
    } catch (...) {
      if (!failure) failure = task->error;
    }
  }
  if (storing_error) std::rethrow_exception(not_stored(storing_error, failure));
  if (failure) std::rethrow_exception(failure);
  if (cancelled) std::rethrow_exception(cancelled);
  if (is_interrupted) throw interrupted;
}

// Merges what the tasks wrote, in their order.
const std::vector<Index>& Loop::apply_writes() {
  if (tasks_.size() == 1) {
    const TaskWrites only = tasks_.front()->as_writes();
    return state_.apply({&only, 1});
  }
  std::vector<TaskRun*> tasks;
  tasks.reserve(tasks_.size());
  for (const auto& task : tasks_) tasks.push_back(task.get());
  return state_.apply(in_order(std::move(tasks)));
}

// The same, and shows the state if that is news.
const std::vector<Index>& Loop::apply_tasks() {
  const std::vector<Index>& updated = apply_writes();
  TaskRun* const alone = std::exchange(alone_, nullptr);
  if (std::exchange(is_alone_untold_, false)) output_writes(*alone, alone->writes, false);
  const bool is_known_to_be_old = has_latest_ && !latest_is_current_;
  if (is_known_to_be_old && !needs_each_value()) return updated;
  const bool is_visible = std::any_of(updated.begin(), updated.end(),
                                      [this](Index index) { return output_->contains(index); });
  if (is_visible && std::any_of(tasks_.begin(), tasks_.end(),
                                [this](const auto& task) { return writes_output(*task); })) {
    emit_values();
  }
  return updated;
}

// False if others will go on.
bool Loop::end_step() {
  updated_ = apply_tasks();
  note_step_deltas();
  pending_.clear();
  has_written_.store(false, std::memory_order_relaxed);
  is_replaying_ = false;
  put_checkpoint("loop");
  if (should_interrupt(scope_.config.interrupt_after, graph_->options.interrupt_after)) {
    plan();
    throw GraphInterrupt{};
  }
  scope_.resuming.reset();
  if (scope_.durability != Durability::sync) return true;
  // The last step of a graph that is a task shares the commit of the step around. Which
  // one is the last shows when there is nothing more to run.
  is_step_unsaved_ = scope_.hands_over;
  return is_step_unsaved_ || flush_then([this](const std::exception_ptr& error) {
           if (error) return finish(error);
           advance();
         });
}

}  // namespace clew::pregel
