// A super-step's tasks: started together, finished in any order, committed one
// by one as they finish.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "pregel/call.hpp"
#include "pregel/errors.hpp"
#include "pregel/loop.hpp"
#include "pregel/task_status.hpp"

namespace clew::pregel {
namespace {

// Starts a task without anyone waiting for it; it reports by itself when done.
struct Detached {
  struct promise_type {
    Detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

Detached run_detached(Task<void> task) { co_await std::move(task); }

std::chrono::nanoseconds backoff(const RetryPolicy& policy, int failures) {
  double milliseconds = static_cast<double>(policy.initial_interval.count());
  for (int i = 1; i < failures; ++i) milliseconds *= policy.backoff_factor;
  milliseconds = std::min(milliseconds, static_cast<double>(policy.max_interval.count()));
  if (policy.jitter) {
    thread_local std::minstd_rand random(std::random_device{}());
    milliseconds += std::uniform_real_distribution<>(0, 1000)(random);
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(milliseconds * 1e6));
}

bool matches(const RetryPolicy& policy, const std::exception& error) {
  return policy.retry_on ? policy.retry_on(error) : is_retryable(error);
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

// A namespace without task ids.
std::string without_task_ids(std::string_view ns) {
  std::string result;
  while (!ns.empty()) {
    const std::string_view segment = ns.substr(0, ns.find(kNamespaceSeparator));
    ns.remove_prefix(std::min(ns.size(), segment.size() + 1));
    if (segment.find_first_not_of("0123456789") == std::string_view::npos) continue;
    if (!result.empty()) result += kNamespaceSeparator;
    result += segment.substr(0, segment.find(kNamespaceEnd));
  }
  return result;
}

}  // namespace

void Loop::check_cancelled() const {
  if (scope_.config.stop.stop_requested()) {
    throw Cancelled("the run was cancelled; the thread can be continued from checkpoint " +
                    checkpoint_.id);
  }
}

void Loop::start(Done done) {
  done_ = std::move(done);
  try {
    enter();
  } catch (...) {
    finish(std::current_exception());
    return;
  }
  advance();
}

void Loop::advance() {
  try {
    while (tick()) {
      check_cancelled();
      match_cached_writes();
      if (!run_tasks()) return;
      check_errors();
      end_step();
    }
  } catch (...) {
    finish(std::current_exception());
    return;
  }
  finish(nullptr);
}

// Runs the tasks that have no result yet. The thread that calls it takes part,
// so that a step makes progress even if no other thread is free; it does not
// wait for tasks that others took.
bool Loop::run_tasks() {
  if (tasks_by_id_.empty() && scope_.checkpointer) {
    for (const auto& task : tasks_) tasks_by_id_.emplace(task->id(), task.get());
  }
  std::size_t count = 0;
  {
    // A helper of the last step may still be looking for work: it must see the
    // new tasks and their number at once.
    const std::lock_guard lock(mutex_);
    ++round_;
    runnable_.clear();
    next_runnable_ = 0;
    for (const auto& task : tasks_) {
      if (task->writes.empty()) runnable_.push_back(task.get());
    }
    count = runnable_.size();
    outstanding_ = count + 1;
  }
  if (count == 0) return true;
  if (count > 1) ask_for_help(count);
  run_some();
  // Our own token: whoever takes the last one goes on with the run.
  return outstanding_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// Others join at once up to the number of processors. Tasks that wait rather
// than compute get more: every millisecond that some have not started, as many
// again.
void Loop::ask_for_help(std::size_t count) {
  const std::size_t limit =
      scope_.config.max_concurrency > 0 ? std::min(scope_.config.max_concurrency, count) : count;
  const std::size_t first = std::min(limit, executor_.parallelism()) - 1;
  std::uint64_t round = 0;
  {
    const std::lock_guard lock(mutex_);
    helpers_ = first;
    round = round_;
  }
  const auto help = [self = shared_from_this()] { self->run_some(); };
  for (std::size_t i = 0; i < first; ++i) executor_.post(help);
  if (first + 1 < limit) call_for_more(limit, round);
}

void Loop::call_for_more(std::size_t limit, std::uint64_t round) {
  executor_.post_after(std::chrono::milliseconds(1), [weak = weak_from_this(), limit, round] {
    const std::shared_ptr<Loop> self = weak.lock();
    if (!self) return;
    std::size_t more = 0;
    {
      const std::lock_guard lock(self->mutex_);
      if (self->round_ != round) return;
      const std::size_t waiting = self->runnable_.size() - self->next_runnable_;
      if (waiting == 0 || self->helpers_ + 1 >= limit) return;
      more = std::min({waiting, self->helpers_ + 1, limit - 1 - self->helpers_});
      self->helpers_ += more;
    }
    for (std::size_t i = 0; i < more; ++i) {
      self->executor_.post([self] { self->run_some(); });
    }
    self->call_for_more(limit, round);
  });
}

void Loop::run_some() {
  while (true) {
    TaskRun* task = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (next_runnable_ >= runnable_.size()) return;
      task = runnable_[next_runnable_++];
      task->is_started = true;
    }
    execute(*task);
  }
}

void Loop::task_done() {
  if (outstanding_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // The thread that started the step has left; this one goes on.
  try {
    check_errors();
    end_step();
  } catch (...) {
    finish(std::current_exception());
    return;
  }
  advance();
}

// One task ---------------------------------------------------------------------

void Loop::execute(TaskRun& task) {
  const NodeBody& body = task.body();
  if (body.coroutine || (body.subgraph && !task.is_hidden())) {
    run_detached(execute_coroutine(task));
    return;
  }
  std::exception_ptr error;
  while (true) {
    error = nullptr;
    task.writes.clear();
    try {
      check_cancelled();
      const Value result = body.function ? run_function(task) : task.input;
      write_task_result(task, result);
    } catch (...) {
      error = std::current_exception();
    }
    const auto delay = after_attempt(task, error);
    if (!delay) break;
    std::this_thread::sleep_for(*delay);
  }
  finish_task(task, task.error);
}

Task<void> Loop::execute_coroutine(TaskRun& task) {
  const std::shared_ptr<Loop> self = shared_from_this();
  while (true) {
    std::exception_ptr error;
    task.writes.clear();
    try {
      check_cancelled();
      Value result;
      if (task.body().coroutine) {
        Task<Value> attempt = task.body().coroutine(task.input, task.runtime);
        result = co_await std::move(attempt);
      } else {
        Task<Value> attempt = run_subgraph(task);
        result = co_await std::move(attempt);
      }
      write_task_result(task, result);
    } catch (...) {
      error = std::current_exception();
    }
    const auto delay = after_attempt(task, error);
    if (!delay) break;
    Task<void> pause = task.runtime.sleep(*delay);
    co_await std::move(pause);
  }
  finish_task(task, task.error);
}

Value Loop::run_function(TaskRun& task) {
  const std::optional<TimeoutPolicy>& timeout = task.timeout();
  if (!timeout || !timeout->run_timeout) return task.body().function(task.input, task.runtime);
  // A function cannot be stopped from outside. It is asked to through its stop
  // token, and counts as failed if it came too late.
  const auto stop = std::make_shared<std::stop_source>();
  task.attempt_stop = stop;
  executor_.post_after(*timeout->run_timeout, [stop] { stop->request_stop(); });
  const auto begin = std::chrono::steady_clock::now();
  Value result = task.body().function(task.input, task.runtime);
  if (std::chrono::steady_clock::now() - begin > *timeout->run_timeout) {
    throw NodeTimeout("node '" + task.name + "' took longer than " +
                      std::to_string(timeout->run_timeout->count()) + " ms");
  }
  return result;
}

void Loop::write_task_result(TaskRun& task, const Value& result) {
  emit_messages(task, result);
  if (task.call) {
    task.writes.push_back({Value(kReturn), result, kUnknown});
    return;
  }
  write_result(*task.node, result, task, task.writes);
}

// Decides after an attempt whether there is another, and how long to wait for it.
std::optional<std::chrono::nanoseconds> Loop::after_attempt(TaskRun& task,
                                                            std::exception_ptr error) {
  task.error = error;
  if (!error) return std::nullopt;
  try {
    std::rethrow_exception(error);
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
  if (graph == ns || graph == without_task_ids(ns) || graph == task.name) {
    Command ours = command.command;
    ours.graph.clear();
    task.writes.clear();
    write_result(*task.node, ours, task, task.writes);
    return true;
  }
  if (graph == Command::PARENT) command.command.graph = parent_graph_namespace(ns);
  return false;
}

void Loop::finish_task(TaskRun& task, std::exception_ptr error) {
  try {
    commit(task, error);
  } catch (...) {
    task.error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    task.is_done = true;
  }
  calls_done_.notify_all();
  task_done();
}

// Makes the outcome of a task durable and tells about it.
void Loop::commit(TaskRun& task, std::exception_ptr error) {
  if (!error) {
    const bool is_silent = std::all_of(task.writes.begin(), task.writes.end(), is_control_write);
    if (is_silent) task.writes.push_back({Value(kNoWrites), {}, kUnknown});
    put_writes(&task, task_id(task), task.writes);
    return;
  }
  try {
    std::rethrow_exception(error);
  } catch (const GraphInterrupt& interrupt) {
    if (interrupt.interrupts.empty()) return;
    std::vector<Write> writes{{Value(kInterrupt), Value(interrupt.interrupts), kUnknown}};
    for (const Write& write : task.writes) {
      if (write.is(kResume)) writes.push_back(write);
    }
    put_writes(&task, task_id(task), std::move(writes));
  } catch (const ParentCommand&) {
  } catch (const Cancelled&) {
  } catch (...) {
    const std::string text = python_repr(error);
    task.writes.push_back({Value(kError), text, kUnknown});
    const bool has_handler = task.node && task.node->error_handler != kUnknown;
    if (has_handler) task.writes.push_back({Value(kErrorSourceNode), task.name, kUnknown});
    put_writes(&task, task_id(task), task.writes);
    if (has_handler) schedule_error_handler(task, error, text);
  }
}

// Runs in the same step, after the failure is on record.
void Loop::schedule_error_handler(TaskRun& failed, std::exception_ptr error, std::string text) {
  auto handler = prepare_error_handler(failed, error, std::move(text));
  TaskRun* task = handler.get();
  failed.error = nullptr;
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(handler));
    if (!tasks_by_id_.empty()) tasks_by_id_.emplace(task->id(), task);
    ++outstanding_;
  }
  execute(*task);
}

// After the step: the first failure in the order of tasks, or all questions.
void Loop::check_errors() {
  GraphInterrupt interrupted;
  bool is_interrupted = false;
  std::exception_ptr cancelled;
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
    }
  }
  if (cancelled) std::rethrow_exception(cancelled);
  if (is_interrupted) throw interrupted;
}

// A step whose writes are refused leaves the state as it was: under durability
// `exit` that is what will be saved, and the step can be tried again.
void Loop::merge(std::span<const TaskWrites> writes) {
  if (!scope_.checkpointer || scope_.durability != Durability::exit) {
    updated_ = state_.apply(writes, next_version());
    return;
  }
  ThreadState merged = state_;
  updated_ = merged.apply(writes, next_version());
  state_ = std::move(merged);
}

void Loop::end_step() {
  std::vector<TaskRun*> order;
  for (const auto& task : tasks_) order.push_back(task.get());
  if (order.size() > 1) {
    std::sort(order.begin(), order.end(), [](TaskRun* a, TaskRun* b) { return path_less(*a, *b); });
  }
  std::vector<TaskWrites> writes;
  writes.reserve(order.size());
  for (TaskRun* task : order) writes.push_back(task->as_writes());
  merge(writes);
  note_step_deltas();
  const bool is_visible = std::any_of(updated_->begin(), updated_->end(),
                                      [this](Index index) { return output_.contains(index); });
  if (is_visible && std::any_of(order.begin(), order.end(),
                                [this](TaskRun* task) { return writes_output(*task); })) {
    emit_values();
  }
  pending_.clear();
  is_replaying_ = false;
  put_checkpoint("loop");
  const auto& after = scope_.parent || scope_.config.interrupt_after.empty()
                          ? graph_->options.interrupt_after
                          : scope_.config.interrupt_after;
  if (should_interrupt(after)) {
    status_ = Status::interrupt_after;
    plan();
    throw GraphInterrupt{};
  }
  scope_.resuming.reset();
  if (scope_.durability == Durability::sync) saves_.flush();
}

}  // namespace clew::pregel
