#include "server/runs.hpp"

#include <algorithm>

#include <clew/errors.hpp>

#include "server/assistants.hpp"
#include "server/body.hpp"
#include "server/new_ids.hpp"

namespace clew::server {

Value to_value(const Run& run) {
  return object({{"run_id", run.run_id},
                 {"thread_id", run.thread_id},
                 {"assistant_id", run.assistant_id},
                 {"metadata", run.metadata},
                 {"status", run.status},
                 {"kwargs", run.kwargs},
                 {"multitask_strategy", run.multitask_strategy},
                 {"created_at", time_text(run.created_at)},
                 {"updated_at", time_text(run.updated_at)},
                 {"langsmith_session_name", nullptr}});
}

void RunEnd::then(std::function<void(const Value&)> then) {
  {
    const std::lock_guard lock(mutex_);
    if (!result_) {
      waiting_.push_back(std::move(then));
      return;
    }
  }
  then(*result_);
}

void RunEnd::set(const RunOutcome& outcome) {
  std::vector<std::function<void(const Value&)>> waiting;
  {
    const std::lock_guard lock(mutex_);
    result_ = outcome.result;
    waiting.swap(waiting_);
  }
  for (const auto& then : waiting) then(outcome.result);
}

namespace {

constexpr const char* kBusy =
    "Thread is already running a task. Wait for it to finish or choose a different multitask "
    "strategy.";

std::vector<std::string> ids_of(const std::vector<Run>& runs) {
  std::vector<std::string> ids;
  for (const Run& run : runs) ids.push_back(run.run_id);
  return ids;
}

}  // namespace

// Starting ----------------------------------------------------------------------

StartedRun RunService::create(const Caller& caller, const std::string& thread_id,
                              const Value& body) {
  return create(caller, thread_id, body, Origin{});
}

StartedRun RunService::create_stateless(const Caller& caller, const Value& body) {
  return create_stateless(caller, body, Origin{});
}

StartedRun RunService::create(const Caller& caller, const std::string& text, const Value& body,
                              const Origin& origin) {
  const RunRequest request = RunRequest::of(body, parts_.options.webhooks);
  if (!is_uuid(text)) throw ServiceError(422, "Invalid thread ID");
  const std::string thread_id = checked_uuid(text, "thread");
  const RunQueue::Hold hold(queue_, thread_id);
  const std::string executing = queue_.executing(thread_id);
  std::vector<Run> replaced;
  Run run;
  parts_.repository->write([&](Tables& tables) {
    replaced.clear();
    const auto assistant = resolve_assistant(tables, *parts_.graphs, caller, request.assistant_id);
    auto thread = tables.threads().get(thread_id, caller.owner);
    const bool may_create = request.creates_thread && !tables.threads().get(thread_id, {});
    if (!assistant || (!thread && !may_create)) {
      throw ServiceError(404, "Thread or assistant not found.");
    }
    const Value graph =
        object({{"graph_id", assistant->graph_id}, {"assistant_id", assistant->assistant_id}});
    if (!thread) {
      thread.emplace();
      thread->thread_id = thread_id;
      thread->created_at = thread->state_updated_at = parts_.now();
      thread->metadata = merged(merged(graph, request.metadata), caller.owner);
      thread->ttl = parts_.options.default_ttl;
    }
    thread->metadata = merged(thread->metadata, graph);
    const RunOrder order{request,       caller, *assistant, *thread, false, origin.is_of_protocol,
                         origin.cron_id};
    run = insert(tables, order, executing, replaced);
    thread->status = "busy";
    thread->updated_at = parts_.now();
    thread->config = merged(thread->config, object({{"configurable", object()}}));
    if (thread->ttl) thread->expires_at = thread->updated_at + ttl_duration(*thread->ttl);
    tables.threads().put(*thread);
  });
  replace(run, replaced, executing);
  StartedRun started = start(run);
  started.cancels_on_disconnect = request.cancels_on_disconnect;
  return started;
}

// The run and what its strategy does to those that have not begun.
Run RunService::insert(Tables& tables, const RunOrder& order, const std::string& executing,
                       std::vector<Run>& replaced) {
  const std::string& strategy = order.request.multitask_strategy;
  const std::vector<Run> unfinished = tables.runs().unfinished(order.thread.thread_id);
  if (strategy == "reject" && !unfinished.empty()) throw ServiceError(409, kBusy);
  for (Run other : unfinished) {
    if (strategy == "enqueue" || other.run_id == executing) continue;
    replaced.push_back(other);
    if (strategy == "rollback") {
      tables.runs().erase(other.run_id);
    } else {
      other.status = "interrupted";
      other.updated_at = parts_.now();
      tables.runs().put(other);
    }
  }
  Run run = new_run(order, parts_.now());
  tables.runs().put(run);
  return run;
}

void RunService::replace(const Run& run, const std::vector<Run>& replaced,
                         const std::string& executing) {
  const std::string& strategy = run.multitask_strategy;
  queue_.drop(run.thread_id, ids_of(replaced), "interrupted");
  if (strategy == "rollback") {
    for (const Run& other : replaced) log_.erase_run(run.thread_id, other.run_id);
  }
  if (executing.empty() || (strategy != "rollback" && strategy != "interrupt")) return;
  queue_.cancel(run.thread_id, executing,
                strategy == "rollback" ? CancelAction::rollback : CancelAction::interrupt,
                strategy + " requested by multitask_strategy of run " + run.run_id);
}

// Under a Hold, so that nobody misses its first events or its end.
StartedRun RunService::start(const Run& run) {
  queue_.add(run);
  StartedRun started;
  started.run = to_value(run);
  started.thread_id = run.thread_id;
  started.run_id = run.run_id;
  started.is_resumable = run.kwargs["resumable"] == Value(true);
  started.events = log_.read_run(run.thread_id, run.run_id, EventLog::Start::now());
  started.end = std::make_shared<RunEnd>();
  log_.when_over(run.thread_id, run.run_id,
                 [end = started.end](const RunOutcome& outcome) { end->set(outcome); });
  return started;
}

StartedRun RunService::create_stateless(const Caller& caller, const Value& body,
                                        const Origin& origin) {
  const RunRequest request = RunRequest::of(body, parts_.options.webhooks);
  if (!request.command["resume"].is_null()) {
    throw ServiceError(400, "You must provide a thread_id when resuming.");
  }
  Thread thread;
  thread.thread_id = new_uuid7();
  const RunQueue::Hold hold(queue_, thread.thread_id);
  Run run;
  parts_.repository->write([&](Tables& tables) {
    const auto assistant = resolve_assistant(tables, *parts_.graphs, caller, request.assistant_id);
    if (!assistant) throw ServiceError(404, "Thread or assistant not found.");
    thread.created_at = thread.updated_at = thread.state_updated_at = parts_.now();
    thread.metadata = merged(
        object({{"graph_id", assistant->graph_id}, {"assistant_id", assistant->assistant_id}}),
        caller.owner);
    thread.config = object({{"configurable", object()}});
    thread.status = "busy";
    tables.threads().put(thread);
    const RunOrder order{request,       caller, *assistant, thread, true, origin.is_of_protocol,
                         origin.cron_id};
    run = new_run(order, parts_.now());
    tables.runs().put(run);
  });
  StartedRun started = start(run);
  started.cancels_on_disconnect = request.cancels_on_disconnect;
  return started;
}

Value RunService::create_batch(const Caller& caller, const Value& bodies) {
  if (!bodies.is_list()) throw ServiceError(422, "the body is not of type \"array\"");
  if (bodies.empty()) throw ServiceError(422, "the batch is empty");
  for (const Value& body : bodies) RunRequest::of(body, parts_.options.webhooks);
  ListBuilder runs;
  for (const Value& body : bodies) {
    StartedRun run = create_stateless(caller, body);
    runs.push_back(run.run);
    leave(caller, std::move(run));
  }
  return std::move(runs).build();
}

void RunService::leave(const Caller& caller, StartedRun run) {
  if (run.run["kwargs"]["temporary"] != Value(true)) return;
  background_->add({.thread_id = run.thread_id,
                    .run_id = run.run_id,
                    .is_resumable = run.is_resumable,
                    .owner = caller.owner,
                    .events = std::move(run.events),
                    .end = run.end});
}

// Looking -----------------------------------------------------------------------

Thread RunService::find_thread(const Caller& caller, const std::string& text, const char* detail) {
  const std::string id = checked_uuid(text, "thread");
  const auto thread = parts_.repository->look(
      [&](const Tables& tables) { return tables.threads().get(id, caller.owner); });
  if (thread) return *thread;
  throw ServiceError(404, detail ? detail : "Thread with ID " + id + " not found");
}

Value RunService::list(const Caller& caller, const std::string& thread_id, const RunQuery& asked,
                       const std::vector<std::string>& columns) {
  check_columns(columns,
                {"run_id", "thread_id", "assistant_id", "created_at", "updated_at", "status",
                 "metadata", "kwargs", "multitask_strategy", "langsmith_session_name"});
  RunQuery query = asked;
  query.thread_id = find_thread(caller, thread_id, nullptr).thread_id;
  const auto runs =
      parts_.repository->look([&](const Tables& tables) { return tables.runs().list(query); });
  ListBuilder rows;
  for (const Run& run : runs) rows.push_back(select(to_value(run), columns));
  return std::move(rows).build();
}

Value RunService::get(const Caller& caller, const std::string& thread_id, const std::string& text) {
  const std::string run_id = checked_uuid(text, "run");
  const Thread thread = find_thread(caller, thread_id, nullptr);
  const auto run = parts_.repository->look(
      [&](const Tables& tables) { return tables.runs().get(thread.thread_id, run_id); });
  if (!run) throw ServiceError(404, "Not Found");
  return to_value(*run);
}

// `otherwise` if the thread went with its run.
Value RunService::joined(const std::string& thread_id, const std::string& run_id,
                         const Value& otherwise) {
  const auto [run, thread] = parts_.repository->look([&](const Tables& tables) {
    return std::pair(tables.runs().get(thread_id, run_id), tables.threads().get(thread_id, {}));
  });
  if (!thread) return otherwise;
  if (run && run->status == "error" && thread->error) {
    return object({{"__error__", *thread->error}});
  }
  if (thread->interrupts && !thread->interrupts->empty()) {
    ListBuilder interrupts;
    for (auto [task, questions] : thread->interrupts->items()) {
      for (const Value& question : questions) interrupts.push_back(question);
    }
    return object({{"__interrupt__", std::move(interrupts).build()}});
  }
  return thread->values.is_null() ? object() : thread->values;
}

void RunService::join(const Caller& caller, const std::string& thread_text,
                      const std::string& run_text, std::function<void(Joined)> then) {
  const std::string run_id = checked_uuid(run_text, "run");
  const std::string thread_id = checked_uuid(thread_text, "thread");
  if (const auto run = background_->find(caller, thread_id, run_id)) {
    return run->end->then([then](const Value& result) { then([result] { return result; }); });
  }
  find_thread(caller, thread_id, "Thread not found");
  const bool is_open = log_.when_over(thread_id, run_id, [=, this](const RunOutcome& outcome) {
    then([=, this, result = outcome.result] { return joined(thread_id, run_id, result); });
  });
  if (is_open) return;
  const bool is_known = parts_.repository->look(
      [&](const Tables& tables) { return tables.runs().get(thread_id, run_id).has_value(); });
  if (!is_known) throw ServiceError(404, "Run not found");
  then([=, this] { return joined(thread_id, run_id, object()); });
}

// Nothing if there is no such run.
std::optional<bool> RunService::is_resumable_run(const Caller& caller, const std::string& thread_id,
                                                 const std::string& run_id) {
  if (const auto run = background_->find(caller, thread_id, run_id)) return run->is_resumable;
  find_thread(caller, thread_id, "Run not found");
  const auto run = parts_.repository->look(
      [&](const Tables& tables) { return tables.runs().get(thread_id, run_id); });
  if (!run) return {};
  return run->kwargs["resumable"] == Value(true);
}

std::unique_ptr<EventReader> RunService::stream(const Caller& caller,
                                                const std::string& thread_text,
                                                const std::string& run_text,
                                                const std::vector<std::string>& stream_modes,
                                                const std::string& last_event_id,
                                                bool* is_resumable) {
  const std::string run_id = checked_uuid(run_text, "run");
  const std::string thread_id = checked_uuid(thread_text, "thread");
  const std::optional<bool> shows_ids = is_resumable_run(caller, thread_id, run_id);
  if (!shows_ids) throw ServiceError(404, "Run not found");
  const auto start = start_after(last_event_id);
  if (!start) {
    throw ServiceError(422, "Invalid last-event-id: must be \"<milliseconds>-<number>\"");
  }
  if (is_resumable) *is_resumable = *shows_ids;
  if (stream_modes.empty()) return log_.read_run(thread_id, run_id, *start);
  return log_.read_run(thread_id, run_id, *start, [stream_modes](const Event& event) {
    const std::string_view name = std::string_view(event.name).substr(0, event.name.find('|'));
    return std::any_of(stream_modes.begin(), stream_modes.end(), [&](const std::string& mode) {
      if (mode == "messages-tuple") return name == "messages" || name == "error";
      if (mode == "messages") return name.starts_with("messages/") || name == "error";
      return name == mode || name == "error";
    });
  });
}

// Ending ------------------------------------------------------------------------

ThreadFacts RunService::facts_of_thread(const std::string& thread_id) {
  const auto thread = parts_.repository->look(
      [&](const Tables& tables) { return tables.threads().get(thread_id, {}); });
  if (!thread || !thread->metadata["graph_id"].is_string()) return {};
  const auto graph = parts_.graphs->find(thread->metadata["graph_id"].as_string());
  if (!graph) return {};
  return facts_of(graph->graph().get_state(Config{.thread_id = thread_id}));
}

// Under a Hold. False if the run is over, or on its way there.
bool RunService::cancel_one(const Run& run, const CancelRequest& request) {
  if (queue_.executing(run.thread_id) == run.run_id) {
    return queue_.cancel(run.thread_id, run.run_id, request.action, request.why);
  }
  if (!is_unfinished(run)) return false;
  const bool has_next = facts_of_thread(run.thread_id).has_next;
  const bool erases = request.action == CancelAction::rollback;
  const bool is_temporary = run.kwargs["temporary"] == Value(true);
  parts_.repository->write([&](Tables& tables) {
    if (is_temporary) return tables.threads().erase(run.thread_id);
    if (erases) {
      tables.runs().erase(run.run_id);
    } else {
      Run ended = run;
      ended.status = "interrupted";
      ended.updated_at = parts_.now();
      tables.runs().put(ended);
    }
    auto thread = tables.threads().get(run.thread_id, {});
    if (!thread || !tables.runs().unfinished(run.thread_id).empty()) return;
    thread->status = has_next ? "interrupted" : "idle";
    thread->updated_at = parts_.now();
    tables.threads().put(*thread);
  });
  queue_.drop(run.thread_id, {run.run_id}, "interrupted");
  if (erases) log_.erase_run(run.thread_id, run.run_id);
  if (is_temporary) log_.erase_thread(run.thread_id);
  return true;
}

void RunService::cancel(const Caller& caller, const std::string& thread_text,
                        const std::string& run_text, const CancelRequest& request,
                        std::function<void(Value)> then) {
  const std::string run_id = checked_uuid(run_text, "run");
  const std::string thread_id =
      find_thread(caller, thread_text, "No runs found to cancel.").thread_id;
  const RunQueue::Hold hold(queue_, thread_id);
  const auto run = parts_.repository->look(
      [&](const Tables& tables) { return tables.runs().get(thread_id, run_id); });
  if (!run) throw ServiceError(404, "No runs found to cancel.");
  const bool is_open =
      then && log_.when_over(thread_id, run_id, [then](const RunOutcome&) { then(object()); });
  if (!cancel_one(*run, request)) {
    throw ServiceError(404,
                       "No matching runs to cancel. Please verify the thread ID and run IDs are "
                       "correct, and the runs haven't been deleted or completed.");
  }
  if (then && !is_open) then(object());
}

void RunService::cancel_many(const Caller& caller, const Value& json, CancelAction action) {
  const Body body(json);
  const auto run_ids = body.texts("run_ids");
  const auto thread_id = body.text("thread_id");
  const auto status = body.choice("status", {"pending", "running", "all"});
  if (status.has_value() == (run_ids && thread_id)) {
    throw ServiceError(422, "give either \"thread_id\" and \"run_ids\", or \"status\"");
  }
  const std::string only = thread_id ? checked_uuid(*thread_id, "thread") : "";
  std::vector<Run> runs = parts_.repository->look([&](const Tables& tables) {
    std::vector<Run> unfinished = tables.runs().unfinished(only);
    std::erase_if(unfinished, [&](const Run& run) {
      if (!tables.threads().get(run.thread_id, caller.owner)) return true;
      if (status) return *status != "all" && run.status != *status;
      return std::find(run_ids->begin(), run_ids->end(), run.run_id) == run_ids->end();
    });
    return unfinished;
  });
  CancelRequest request{action, "cancel requested via POST /runs/cancel"};
  std::size_t cancelled = 0;
  for (const Run& seen : runs) {
    const RunQueue::Hold hold(queue_, seen.thread_id);
    const auto run = parts_.repository->look(
        [&](const Tables& tables) { return tables.runs().get(seen.thread_id, seen.run_id); });
    if (run && cancel_one(*run, request)) ++cancelled;
  }
  if (cancelled == 0) throw ServiceError(404, "No runs found to cancel.");
}

void RunService::disconnect(const std::string& thread_id, const std::string& run_id) {
  const RunQueue::Hold hold(queue_, thread_id);
  const auto run = parts_.repository->look(
      [&](const Tables& tables) { return tables.runs().get(thread_id, run_id); });
  if (!run) return;
  cancel_one(*run, {CancelAction::interrupt,
                    "client disconnected from the run stream (on_disconnect=cancel)"});
}

void RunService::remove(const Caller& caller, const std::string& thread_text,
                        const std::string& run_text) {
  const std::string run_id = checked_uuid(run_text, "run");
  const std::string thread_id = find_thread(caller, thread_text, "Run not found").thread_id;
  const RunQueue::Hold hold(queue_, thread_id);
  const auto run = parts_.repository->look(
      [&](const Tables& tables) { return tables.runs().get(thread_id, run_id); });
  if (!run) throw ServiceError(404, "Run not found");
  if (is_unfinished(*run)) {
    cancel_one(*run, {CancelAction::rollback, "the run was deleted"});
    return;
  }
  const std::string run_ids[] = {run_id};
  parts_.checkpointer->delete_for_runs(run_ids);
  const ThreadFacts facts = facts_of_thread(thread_id);
  parts_.repository->write([&](Tables& tables) {
    tables.runs().erase(run_id);
    auto thread = tables.threads().get(thread_id, {});
    if (!thread) return;
    thread->values = facts.values;
    if (thread->interrupts) thread->interrupts = facts.interrupts;
    if (thread->status != "busy") thread->status = facts.has_next ? "interrupted" : "idle";
    thread->updated_at = thread->state_updated_at = parts_.now();
    tables.threads().put(*thread);
  });
  log_.erase_run(thread_id, run_id);
}

}  // namespace clew::server
