// How a run ends: what is still to be stored is stored, a question becomes a
// normal result, and the caller is told.
#include <algorithm>

#include "pregel/errors.hpp"
#include "pregel/loop.hpp"

namespace clew::pregel {

void Loop::finish(std::exception_ptr error) {
  try {
    save_at_exit(error);
  } catch (...) {
    error = not_stored(std::current_exception(), error);
  }
  try {
    if (error && suppress_interrupt(error)) error = nullptr;
    if (error && !scope_.parent) check_parent_command(error);
  } catch (...) {
    error = std::current_exception();
  }
  bool is_stored = true;
  try {
    const bool is_left_to_parent = !error && scope_.hands_over && saves_.hand_over();
    is_stored = is_left_to_parent || flush_then([this, error](const auto& storing_error) {
                  end(storing_error ? not_stored(storing_error, error) : error);
                });
  } catch (...) {
    error = not_stored(std::current_exception(), error);
  }
  if (is_stored) end(std::move(error));
}

// Counts more than what the run failed with, if it did: whoever hears only of that believes
// that the rest of the step is done.
std::exception_ptr Loop::not_stored(std::exception_ptr storing_error,
                                    const std::exception_ptr& error) const {
  if (!error) return storing_error;
  const auto failed = std::find_if(tasks_.begin(), tasks_.end(),
                                   [&](const auto& task) { return task->error == error; });
  const std::string who = failed == tasks_.end() ? "the run" : "node '" + (*failed)->name + "'";
  return with_failure(storing_error, error, who);
}

void Loop::end(std::exception_ptr error) {
  try {
    if (!error) check_steps();
    if (!error && has_latest_ && !latest_is_current_) latest_ = read_output();
  } catch (...) {
    error = std::current_exception();
  }
  // The error belongs to whoever waits for the run; a thread that comes to help too late may
  // be the one that destroys the tasks.
  for (const auto& task : tasks_) task->error = nullptr;
  // The last reference to this run may be the caller's, who may let go of it.
  const std::shared_ptr<Loop> self = shared_from_this();
  const Done done = std::move(done_);
  done(std::move(error));
}

// Under durability `exit` everything is stored now.
void Loop::save_at_exit(const std::exception_ptr& error) {
  if (!scope_.checkpointer || scope_.durability != Durability::exit) return;
  // An input or Command that was refused leaves nothing behind.
  if (!has_entered_) return;
  const bool keeps_history = scope_.config.checkpoint_ns.find(kNamespaceEnd) == std::string::npos;
  if (scope_.parent && !error && !keeps_history) return;
  look_for_other_runs();
  put_exit_delta_writes();
  put_final_checkpoint();
  put_exit_writes();
}

void Loop::check_steps() const {
  if (!is_out_of_steps_) return;
  throw GraphRecursionError("the run did not end within " +
                            std::to_string(scope_.config.recursion_limit) +
                            " steps; raise Config::recursion_limit or end the cycle");
}

// A question, or a stop before or after a node, ends the root's run normally.
bool Loop::suppress_interrupt(std::exception_ptr error) {
  if (scope_.parent) return false;
  try {
    std::rethrow_exception(error);
  } catch (const GraphInterrupt& interrupt) {
    const bool has_writes = std::any_of(tasks_.begin(), tasks_.end(),
                                        [](const auto& task) { return !task->writes.empty(); });
    // One last look at the state, with what finished tasks of the step wrote.
    if ((has_written_ || !pending_.empty()) && has_writes) apply_tasks();
    if (interrupt.interrupts.empty()) {
      emit(StreamMode::updates, object({{kInterrupt, list()}}));
    }
    return true;
  } catch (...) {
    return false;
  }
}

// A Command for the parent graph that no graph took.
void Loop::check_parent_command(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const ParentCommand&) {
    throw NoParentGraphError("a node returned a Command for the parent graph, but there is none");
  } catch (...) {
  }
}

Value Loop::run() {
  std::exception_ptr error;
  start([this, &error](std::exception_ptr outcome) {
    const std::lock_guard lock(mutex_);
    error = std::move(outcome);
    has_ended_ = true;
    ended_.notify_all();
  });
  {
    // Not std::atomic::wait, whose notification libstdc++ 12 can lose after a release store.
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return has_ended_; });
  }
  if (error) std::rethrow_exception(error);
  return result();
}

Value Loop::result() const {
  if (interrupts_.empty()) return latest_;
  const Value questions(interrupts_);
  return latest_.is_object() ? latest_.set(kInterrupt, questions)
                             : object({{kInterrupt, questions}});
}

}  // namespace clew::pregel
