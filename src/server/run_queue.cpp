#include "server/run_queue.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include <clew/task.hpp>

#include "server/execution.hpp"

namespace clew::server {

// The runs of a thread.
struct RunQueue::Line {
  std::vector<Run> waiting;
  std::shared_ptr<Execution> executing;
};

struct RunQueue::State {
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<std::string, Line> lines;
  std::deque<std::string> ready;  // threads that may have a run to begin
  std::unordered_set<std::string> held;
  std::size_t waiting = 0;
  std::size_t executing = 0;
  std::map<std::string, std::uint64_t> finished;
  std::size_t pumping = 0;  // timers that are using the queue
  bool has_started = false;
  bool is_stopping = false;
  bool is_closed = false;

  std::array<std::mutex, 64> thread_locks;
};

RunQueue::RunQueue(ServerParts& parts, EventLog& log)
    : parts_(parts), log_(log), state_(std::make_shared<State>()) {}

RunQueue::~RunQueue() {
  stop(std::chrono::milliseconds(0));
  std::unique_lock lock(state_->mutex);
  state_->is_closed = true;
  state_->changed.wait(lock, [this] { return state_->executing == 0 && state_->pumping == 0; });
}

void RunQueue::start() {
  const std::vector<Run> runs =
      parts_.repository->look([](const Tables& tables) { return tables.runs().unfinished(""); });
  {
    const std::lock_guard lock(state_->mutex);
    state_->has_started = true;
  }
  for (const Run& run : runs) add(run);
  pump();
}

RunQueue::Hold::Hold(RunQueue& queue, const std::string& thread_id)
    : queue_(queue), thread_id_(thread_id) {
  auto& locks = queue_.state_->thread_locks;
  lock_ = std::unique_lock(locks[std::hash<std::string>()(thread_id) % locks.size()]);
  const std::lock_guard lock(queue_.state_->mutex);
  queue_.state_->held.insert(thread_id);
}

RunQueue::Hold::~Hold() {
  {
    const std::lock_guard lock(queue_.state_->mutex);
    queue_.state_->held.erase(thread_id_);
    if (!queue_.state_->lines.contains(thread_id_)) return;
    queue_.state_->ready.push_back(thread_id_);
  }
  queue_.pump();
}

std::string RunQueue::executing(const std::string& thread_id) const {
  const std::lock_guard lock(state_->mutex);
  const auto line = state_->lines.find(thread_id);
  if (line == state_->lines.end() || !line->second.executing) return "";
  return line->second.executing->run_id();
}

void RunQueue::add(const Run& run) {
  log_.open_run(run.thread_id, run.run_id);
  {
    const std::lock_guard lock(state_->mutex);
    state_->lines[run.thread_id].waiting.push_back(run);
    ++state_->waiting;
    state_->ready.push_back(run.thread_id);
  }
  if (run.due_at > parts_.now()) wake_at(run.due_at, run.thread_id);
}

void RunQueue::drop(const std::string& thread_id, const std::vector<std::string>& run_ids,
                    const std::string& status) {
  {
    const std::lock_guard lock(state_->mutex);
    const auto line = state_->lines.find(thread_id);
    if (line == state_->lines.end()) return;
    const std::size_t dropped = std::erase_if(line->second.waiting, [&](const Run& run) {
      return std::find(run_ids.begin(), run_ids.end(), run.run_id) != run_ids.end();
    });
    state_->waiting -= dropped;
    if (dropped > 0) state_->finished[status] += dropped;
    if (line->second.waiting.empty() && !line->second.executing) state_->lines.erase(line);
  }
  for (const std::string& run_id : run_ids) log_.drop_run(thread_id, run_id, status);
}

bool RunQueue::cancel(const std::string& thread_id, const std::string& run_id, CancelAction action,
                      const std::string& why) {
  std::shared_ptr<Execution> execution;
  {
    const std::lock_guard lock(state_->mutex);
    const auto line = state_->lines.find(thread_id);
    if (line != state_->lines.end()) execution = line->second.executing;
  }
  if (!execution || execution->run_id() != run_id) return false;
  return execution->stop(
      action == CancelAction::interrupt ? Execution::Stop::interrupt : Execution::Stop::rollback,
      why);
}

void RunQueue::forget_thread(const std::string& thread_id) {
  std::shared_ptr<Execution> execution;
  std::vector<Run> dropped;
  {
    const std::lock_guard lock(state_->mutex);
    const auto line = state_->lines.find(thread_id);
    if (line == state_->lines.end()) return;
    dropped = std::exchange(line->second.waiting, {});
    state_->waiting -= dropped.size();
    execution = line->second.executing;
    if (!execution) state_->lines.erase(line);
  }
  for (const Run& run : dropped) log_.drop_run(thread_id, run.run_id, "interrupted");
  if (execution) execution->stop(Execution::Stop::thread_gone, "");
}

QueueCounts RunQueue::counts() const {
  const std::lock_guard lock(state_->mutex);
  return {state_->waiting, state_->executing, state_->finished};
}

std::vector<WaitingRun> RunQueue::waiting() const {
  const Time now = parts_.now();
  std::vector<WaitingRun> waiting;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [thread_id, line] : state_->lines) {
    bool is_blocked = line.executing != nullptr;
    for (const Run& run : line.waiting) {
      if (run.due_at > now) continue;
      waiting.push_back({now - std::max(run.created_at, run.due_at), is_blocked});
      is_blocked = true;
    }
  }
  return waiting;
}

bool RunQueue::stop(std::chrono::milliseconds limit) {
  std::vector<std::shared_ptr<Execution>> executions;
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_stopping = true;
    for (const auto& [thread_id, line] : state_->lines) {
      if (line.executing) executions.push_back(line.executing);
    }
  }
  for (const auto& execution : executions) execution->stop(Execution::Stop::shutdown, "");
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, limit, [this] { return state_->executing == 0; });
}

// Starting ----------------------------------------------------------------------

// Begins what may begin. Of a thread's runs that is the oldest that is due.
void RunQueue::pump() {
  const Time now = parts_.now();
  std::vector<std::shared_ptr<Execution>> begun;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->has_started || state_->is_stopping) return;
    while (!state_->ready.empty() && state_->executing < parts_.options.workers) {
      const std::string thread_id = std::move(state_->ready.front());
      state_->ready.pop_front();
      const auto line = state_->lines.find(thread_id);
      if (line == state_->lines.end() || line->second.executing) continue;
      if (state_->held.contains(thread_id)) continue;  // comes again when it is let go
      std::vector<Run>& waiting = line->second.waiting;
      const auto next = std::find_if(waiting.begin(), waiting.end(),
                                     [&](const Run& run) { return run.due_at <= now; });
      if (next == waiting.end()) continue;
      line->second.executing = std::make_shared<Execution>(*this, parts_, log_, std::move(*next));
      begun.push_back(line->second.executing);
      waiting.erase(next);
      --state_->waiting;
      ++state_->executing;
    }
  }
  for (const auto& execution : begun) execution->start();
}

void RunQueue::wake_at(Time due, const std::string& thread_id) {
  const auto delay = std::max(due - parts_.now(), std::chrono::microseconds(0));
  default_executor().post_after(delay, [this, thread_id, weak = std::weak_ptr(state_)] {
    const std::shared_ptr<State> state = weak.lock();
    if (!state) return;
    {
      const std::lock_guard lock(state->mutex);
      if (state->is_closed) return;
      state->ready.push_back(thread_id);
      ++state->pumping;
    }
    pump();
    const std::lock_guard lock(state->mutex);
    --state->pumping;
    state->changed.notify_all();
  });
}

void RunQueue::end(const std::string& thread_id, const std::string& run_id,
                   const std::string& status) {
  {
    const std::lock_guard lock(state_->mutex);
    const auto line = state_->lines.find(thread_id);
    if (line == state_->lines.end() || !line->second.executing ||
        line->second.executing->run_id() != run_id) {
      return;
    }
    line->second.executing.reset();
    if (line->second.waiting.empty()) {
      state_->lines.erase(line);
    } else {
      state_->ready.push_back(thread_id);
    }
    --state_->executing;
    if (!status.empty()) ++state_->finished[status];
    ++state_->pumping;
  }
  pump();
  const std::lock_guard lock(state_->mutex);
  --state_->pumping;
  state_->changed.notify_all();
}

}  // namespace clew::server
