#include "server/execution.hpp"

#include <clew/errors.hpp>
#include <clew/ids.hpp>

#include "graph/hosted_run.hpp"
#include "server/runs.hpp"
#include "server/shapes.hpp"

namespace clew::server {
namespace {

std::string namespace_text(const std::vector<std::string>& ns) {
  std::string text;
  for (const std::string& segment : ns) text += (text.empty() ? "" : "|") + segment;
  return text;
}

}  // namespace

Execution::Execution(RunQueue& queue, ServerParts& parts, EventLog& log, Run run)
    : queue_(queue), parts_(parts), log_(log), run_(std::move(run)) {}

bool Execution::is_temporary() const { return run_.kwargs["temporary"] == Value(true); }

bool Execution::stop(Stop reason, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    const bool is_stronger = reason == Stop::thread_gone;
    if (reason_ && !is_stronger) return false;
    reason_ = reason;
    why_ = why;
  }
  // Elsewhere: whoever waits for the token may go on at once, and for long.
  default_executor().post([self = shared_from_this()] { self->stop_.request_stop(); });
  return true;
}

// Beginning ---------------------------------------------------------------------

void Execution::start() {
  default_executor().post([self = shared_from_this()] { self->begin(); });
}

void Execution::begin() {
  started_at_ = parts_.now();
  ++run_.attempt;
  run_.status = "running";
  run_.updated_at = started_at_;
  const Value& config = run_.kwargs["config"];
  const Value metadata = merged(config["metadata"], object({{"run_attempt", run_.attempt}}));
  run_.kwargs = run_.kwargs.set("config", config.set("metadata", metadata));
  const Value& graph_id = run_.kwargs["config"]["configurable"]["graph_id"];
  events_.emplace(run_, graph_id.is_string() ? graph_id.get<std::string>() : "");
  const auto mark_running = [run = run_](Tables& tables) {
    if (tables.runs().get(run.thread_id, run.run_id)) tables.runs().put(run);
  };
  try {
    log_.append(run_.thread_id, run_.run_id, events_->begin(run_.attempt, run_.kwargs["input"]),
                mark_running);
    prepare();
    drive();
  } catch (...) {
    finish(std::current_exception());
  }
}

void Execution::prepare() {
  const Value& graph_id = run_.kwargs["config"]["configurable"]["graph_id"];
  graph_ = parts_.graphs->find(graph_id.as_string());
  if (!graph_) {
    throw Error("graph '" + graph_id.get<std::string>() + "' is not offered by this server");
  }
  check_resume();
  call_ = run_call(run_, *graph_);
  call_.config.stop = stop_.get_token();
  if (run_.attempt > 1) resume_attempt();
}

// There must be something that can go on.
void Execution::check_resume() {
  if (run_.kwargs["command"]["resume"].is_null()) return;
  if (parts_.checkpointer->get_tuple({run_.thread_id, "", ""})) return;
  throw EmptyInputError("the thread has no checkpoint, so there is nothing to resume");
}

// A run that was cut off goes on from its last checkpoint, if it has made one,
// instead of taking its input again.
void Execution::resume_attempt() {
  const StateSnapshot state = graph_->graph().get_state(Config{.thread_id = run_.thread_id});
  head_id_ = state.config.checkpoint_id;
  const bool has_checkpoint =
      state.metadata.is_object() && state.metadata["run_id"] == Value(run_.run_id);
  // An answer that was taken leaves no question, and must not answer the next one.
  const bool has_answered = run_.kwargs["command"]["resume"] != Value() &&
                            state.interrupts.empty() && !state.metadata.is_null();
  if (has_checkpoint || has_answered) {
    call_.input = nullptr;
    call_.config.checkpoint_id.clear();
    call_.config.checkpoint_ns.clear();
    call_.config.checkpoint_map = {};
  }
  replayed_ = ReplayedEvents(told_after(has_checkpoint ? head_id_ : ""));
  if (has_checkpoint) replayed_.resume("", head_id_);
  // With new input its tasks, and the graphs in them, begin anew.
  if (!call_.input.is_null() && !is_command(call_.input)) return;
  for (const std::string& ns : replayed_.subgraphs()) {
    const auto last = parts_.checkpointer->get_tuple({run_.thread_id, ns, ""});
    if (last) replayed_.resume(ns, last->checkpoint.id);
  }
}

// What the run told after it made this checkpoint; all of it, if it did not.
std::vector<Event> Execution::told_after(const std::string& checkpoint_id) {
  constexpr std::size_t kPage = 1000;
  std::vector<Event> told;
  parts_.repository->read([&](const Tables& tables) {
    auto place = tables.events().place_of_checkpoint(run_.run_id, checkpoint_id);
    if (!place) place = tables.events().place_of(run_.run_id, 0);
    while (place) {
      std::vector<Event> page = tables.events().read(run_.thread_id, *place, kPage);
      place = page.size() < kPage ? std::nullopt : std::optional(page.back().place);
      for (Event& event : page) {
        if (event.run_id == run_.run_id) told.push_back(std::move(event));
      }
    }
  });
  return told;
}

// Under way ---------------------------------------------------------------------

void Execution::drive() {
  const auto self = shared_from_this();
  RunHost host;
  host.take_event = [self](const StreamEvent& event, std::string_view task_id) {
    self->take(event, task_id);
  };
  host.name_checkpoint = [self](const std::string& ns, std::int64_t step) {
    return self->name_checkpoint(ns, step);
  };
  // Elsewhere: the end waits for the disk, and the thread that ran the graph holds on to it.
  host.done = [self](std::exception_ptr error) {
    default_executor().post([self, error] { self->finish(error); });
  };
  start_hosted_run(graph_->graph(), call_.input, call_.config, events_->options(), std::move(host));
}

void Execution::take(const StreamEvent& event, std::string_view task_id) {
  std::vector<NewEvent> events = events_->take(event);
  const std::string source = task_id.empty() ? namespace_text(event.ns) : std::string(task_id);
  for (NewEvent& made : events) made.source = source;
  {
    const std::lock_guard lock(mutex_);
    events = replayed_.filter(source, std::move(events));
  }
  if (!events.empty()) log_.append(run_.thread_id, run_.run_id, std::move(events));
}

// The log says where a checkpoint was made before the checkpoint itself is stored.
std::string Execution::name_checkpoint(const std::string& ns, std::int64_t step) {
  std::optional<std::string> known;
  {
    const std::lock_guard lock(mutex_);
    known = replayed_.next_checkpoint(ns, step);
  }
  // Not if somebody went on from there, nor over one that a task stored which begins anew.
  if (known && *known > head_id_ && !parts_.checkpointer->get_tuple({run_.thread_id, ns, *known})) {
    return *known;
  }
  std::string id = checkpoint_id(step);
  NewEvent made{EventKind::checkpoint, id, std::to_string(step)};
  made.source = ns;
  log_.append(run_.thread_id, run_.run_id, {std::move(made)});
  return id;
}

// The end -----------------------------------------------------------------------

void Execution::finish(std::exception_ptr error) {
  std::optional<Stop> reason;
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    reason = reason_;
    why = why_;
  }
  bool is_cancelled = false;
  if (error) {
    try {
      std::rethrow_exception(error);
    } catch (const Cancelled&) {
      is_cancelled = reason.has_value();
    } catch (const StorageError&) {
      is_cancelled = reason == Stop::shutdown;  // EventLog::give_up()
    } catch (...) {
    }
  }
  try {
    if (reason == Stop::thread_gone) return vanish();
    if (reason == Stop::rollback) {
      return roll_back(object({{"error", "UserRollback"}, {"message", why}}));
    }
    if (is_cancelled && reason == Stop::shutdown) return leave();
    if (is_cancelled) {
      return end("interrupted", {}, object({{"error", "UserInterrupt"}, {"message", why}}));
    }
    if (!error) return end("success", {}, {});
    const Value failure = error_value(error);
    end("error", failure, failure);
  } catch (const std::exception&) {
    // The data cannot be read: what is stored stays as it is for the next start.
    leave();
  }
}

ThreadFacts Execution::look() {
  if (!graph_) return {};
  return facts_of(graph_->graph().get_state(Config{.thread_id = run_.thread_id}));
}

// The last commit of a run: its status and what the thread shows of it.
EventLog::Change Execution::final_change(std::string status, ThreadFacts facts, Value thread_error,
                                         bool fails) const {
  return [run_id = run_.run_id, thread_id = run_.thread_id, is_temporary = is_temporary(),
          now = parts_.now(), status = std::move(status), facts = std::move(facts),
          thread_error = std::move(thread_error), fails](Tables& tables) {
    if (is_temporary) return tables.threads().erase(thread_id);
    if (auto run = tables.runs().get(thread_id, run_id)) {
      run->status = status;
      run->updated_at = now;
      if (status.empty()) {
        tables.runs().erase(run_id);
      } else {
        tables.runs().put(*run);
      }
    }
    auto thread = tables.threads().get(thread_id, {});
    if (!thread) return;
    const bool is_busy = !tables.runs().unfinished(thread_id).empty();
    thread->status = is_busy ? "busy" : fails ? "error" : facts.has_next ? "interrupted" : "idle";
    thread->values = facts.values;
    thread->error = thread_error;
    if (facts.has_checkpoint) {
      thread->interrupts = facts.interrupts;
    } else {
      thread->interrupts.reset();
    }
    thread->updated_at = thread->state_updated_at = now;
    if (thread->ttl) thread->expires_at = now + ttl_duration(*thread->ttl);
    tables.threads().put(*thread);
  };
}

void Execution::end(std::string status, const Value& error, const Value& thread_error) {
  const ThreadFacts facts = look();
  RunOutcome outcome{status, events_->result(facts.interrupts)};
  if (!error.is_null()) outcome.result = object({{"__error__", error}});
  log_.end_run(run_.thread_id, run_.run_id, events_->end(status, error),
               final_change(status, facts, thread_error, !error.is_null()), outcome,
               [self = shared_from_this(), status, values = facts.values, error] {
                 default_executor().post([=] { self->after_end(status, values, error); });
               });
}

void Execution::roll_back(const Value& thread_error) {
  const std::string run_ids[] = {run_.run_id};
  parts_.checkpointer->delete_for_runs(run_ids);
  const ThreadFacts facts = look();
  log_.end_run(run_.thread_id, run_.run_id, events_->end("interrupted", {}),
               final_change("", facts, thread_error, false), RunOutcome{"interrupted", object()},
               [self = shared_from_this()] {
                 default_executor().post([=] { self->after_end("", {}, {}); });
               });
}

// The run has no end now, and nothing of it is stored: the next start takes it up.
void Execution::leave() {
  try {
    log_.leave_run(run_.thread_id, run_.run_id);
  } catch (const StorageError&) {
    // Those who read its stream are told when the server ends.
  }
  queue_.end(run_.thread_id, run_.run_id, "");
}

// Nothing is left of a run whose thread is gone, but somebody may wait for it.
void Execution::vanish() {
  try {
    log_.drop_run(run_.thread_id, run_.run_id, "interrupted");
    parts_.checkpointer->delete_thread(run_.thread_id);
  } catch (const StorageError&) {
    // What it stored stays until a thread of its id is made and removed again.
  }
  queue_.end(run_.thread_id, run_.run_id, "");
}

// Without a status nothing of the run is to stay.
void Execution::after_end(const std::string& status, const Value& values, const Value& error) {
  const std::string shown_status = status.empty() ? "interrupted" : status;
  try {
    if (status.empty()) log_.erase_run(run_.thread_id, run_.run_id);
    if (is_temporary()) {
      log_.erase_thread(run_.thread_id);
      parts_.checkpointer->delete_thread(run_.thread_id);
    }
    send_webhook(shown_status, values, error);
  } catch (const std::exception&) {
    // The run itself is over and stored.
  }
  queue_.end(run_.thread_id, run_.run_id, shown_status);
}

namespace {

// The sender must not be kept alive by what it has to send.
void send_until_taken(const std::weak_ptr<WebhookSender>& sender, const std::string& url,
                      const Value& body, int attempts_left, std::chrono::milliseconds delay) {
  const std::shared_ptr<WebhookSender> present = sender.lock();
  if (!present) return;
  present->send(url, body, [=](bool is_taken) {
    if (is_taken || attempts_left <= 1) return;
    default_executor().post_after(
        delay, [=] { send_until_taken(sender, url, body, attempts_left - 1, 2 * delay); });
  });
}

}  // namespace

void Execution::send_webhook(const std::string& status, const Value& values, const Value& error) {
  const Value& url = run_.kwargs["webhook"];
  if (!url.is_string() || !parts_.webhooks) return;
  Run shown = run_;
  shown.status = status;
  shown.updated_at = parts_.now();
  Value body = to_value(shown)
                   .set("run_started_at", time_text(started_at_))
                   .set("run_ended_at", time_text(shown.updated_at))
                   .set("webhook_sent_at", time_text(parts_.now()))
                   .set("values", values);
  if (!error.is_null()) body = body.set("error", error["message"]);
  const WebhookPolicy& policy = parts_.options.webhooks;
  send_until_taken(parts_.webhooks, url.get<std::string>(), body, policy.max_attempts,
                   policy.retry_delay);
}

}  // namespace clew::server
