#include "server/crons.hpp"

#include <algorithm>

#include <clew/errors.hpp>
#include <clew/time.hpp>

#include "server/assistants.hpp"
#include "server/body.hpp"
#include "server/cron_schedule.hpp"
#include "server/new_ids.hpp"
#include "server/shapes.hpp"

namespace clew::server {
namespace {

Value time_or_null(const std::optional<Time>& time) {
  return time ? Value(time_text(*time)) : Value();
}

Value cron_value(const Cron& cron) {
  return object({{"cron_id", cron.cron_id},
                 {"assistant_id", cron.assistant_id},
                 {"thread_id", cron.thread_id.empty() ? Value() : Value(cron.thread_id)},
                 {"user_id", cron.user_id},
                 {"end_time", time_or_null(cron.end_time)},
                 {"schedule", cron.schedule},
                 {"timezone", cron.timezone},
                 {"payload", cron.payload},
                 {"next_run_date", time_or_null(cron.next_run_date)},
                 {"metadata", cron.metadata},
                 {"on_run_completed", cron.on_run_completed},
                 {"enabled", cron.enabled},
                 {"created_at", time_text(cron.created_at)},
                 {"updated_at", time_text(cron.updated_at)}});
}

CronSchedule parse_schedule(const std::string& text) {
  try {
    return CronSchedule::parse(text);
  } catch (const ValueError& error) {
    throw ServiceError(422, "Invalid cron schedule: '" + text + "'. Reason: " + error.what());
  }
}

TimeZone find_zone(const Value& name) {
  if (name.is_null()) return TimeZone::utc();
  const auto zone = TimeZone::load(name.as_string());
  if (zone) return *zone;
  throw ServiceError(422, "Invalid timezone: '" + name.get<std::string>() +
                              "'. Use IANA timezone format (e.g. 'America/New_York').");
}

std::optional<Time> parse_end(const Body& body) {
  const auto text = body.text("end_time");
  if (!text) return std::nullopt;
  try {
    return parse_time(*text);
  } catch (const ValueError&) {
    throw ServiceError(422, "\"end_time\" is no time in ISO 8601");
  }
}

// When it fires next; never again if its end comes before.
void set_next(Cron& cron, Time after) {
  cron.next_run_date = parse_schedule(cron.schedule).next_after(after, find_zone(cron.timezone));
  if (cron.next_run_date && cron.end_time && *cron.next_run_date > *cron.end_time) {
    cron.next_run_date.reset();
  }
}

// The fields that create() and patch() share. `body` is kept as the payload.
void set_fields(const Body& body, const Caller& caller, const WebhookPolicy& policy, Cron& cron) {
  if (const auto schedule = body.text("schedule")) cron.schedule = *schedule;
  if (const auto zone = body.text("timezone")) cron.timezone = *zone;
  if (body.has("end_time")) cron.end_time = parse_end(body);
  if (const auto enabled = body.flag("enabled")) cron.enabled = *enabled;
  if (body.has("metadata")) {
    cron.metadata = merged(body.object_field("metadata"), caller.owner);
  }
  if (const auto completed = body.choice("on_run_completed", {"delete", "keep"})) {
    cron.on_run_completed = *completed;
  }
  cron.payload = merged(cron.payload, body.value());
  RunRequest::of(cron.payload, policy);
}

CronQuery query_of(const Caller& caller, const Body& body) {
  CronQuery query;
  query.owner = caller.owner;
  query.metadata = body.object_field("metadata");
  query.assistant_id = body.text("assistant_id");
  query.thread_id = body.text("thread_id");
  query.enabled = body.flag("enabled");
  return query;
}

}  // namespace

Value CronService::create(const Caller& caller, const std::string& thread_text, const Value& json) {
  const Body body(json);
  Cron cron;
  cron.cron_id = new_uuid4();
  cron.user_id = caller.identity;
  cron.metadata = merged(object(), caller.owner);
  const std::string assistant_id = body.required_text("assistant_id");
  body.required_text("schedule");
  if (thread_text.empty()) {
    cron.on_run_completed = "delete";
  } else {
    cron.thread_id = checked_uuid(thread_text, "thread");
  }
  set_fields(body, caller, parts_.options.webhooks, cron);
  cron.created_at = cron.updated_at = parts_.now();
  set_next(cron, cron.created_at);
  parts_.repository->write([&](Tables& tables) {
    std::optional<Assistant> assistant;
    if (parts_.graphs->find(assistant_id) || is_uuid(assistant_id)) {
      assistant = resolve_assistant(tables, *parts_.graphs, caller, assistant_id);
    }
    if (!assistant) throw ServiceError(404, "Assistant '" + assistant_id + "' not found");
    if (!cron.thread_id.empty() && !tables.threads().get(cron.thread_id, caller.owner)) {
      throw ServiceError(404, "Thread with ID " + cron.thread_id + " not found");
    }
    cron.assistant_id = assistant->assistant_id;
    const Value config = merged(cron.payload["config"], {});
    const Value configurable = merged(config["configurable"], object({{"cron_id", cron.cron_id}}));
    cron.payload = cron.payload.set("assistant_id", cron.assistant_id)
                       .set("config", config.set("configurable", configurable));
    tables.crons().put(cron);
  });
  changed();
  return cron_value(cron);
}

Listing CronService::search(const Caller& caller, const Value& json) {
  const Body body(json);
  CronQuery query = query_of(caller, body);
  query.page = body.page();
  query.sort = body.sort({"cron_id", "assistant_id", "thread_id", "next_run_date", "end_time",
                          "created_at", "updated_at"});
  const std::vector<std::string> columns =
      body.select({"cron_id", "assistant_id", "thread_id", "user_id", "end_time", "schedule",
                   "timezone", "payload", "next_run_date", "metadata", "on_run_completed",
                   "enabled", "created_at", "updated_at"});
  const auto found =
      parts_.repository->look([&](const Tables& tables) { return tables.crons().search(query); });
  ListBuilder rows;
  for (const Cron& cron : found.rows) rows.push_back(select(cron_value(cron), columns));
  return listing(std::move(rows).build(), query.page, found.has_more);
}

std::size_t CronService::count(const Caller& caller, const Value& json) {
  const CronQuery query = query_of(caller, Body(json));
  return parts_.repository->look([&](const Tables& tables) { return tables.crons().count(query); });
}

Value CronService::get(const Caller& caller, const std::string& text) {
  const std::string id = checked_uuid(text, "cron");
  const auto cron = parts_.repository->look(
      [&](const Tables& tables) { return tables.crons().get(id, caller.owner); });
  if (!cron) throw ServiceError(404, "Not Found");
  return cron_value(*cron);
}

Value CronService::patch(const Caller& caller, const std::string& text, const Value& json) {
  const std::string id = checked_uuid(text, "cron");
  const Body body(json);
  if (body.empty()) throw ServiceError(400, "Request body cannot be empty");
  Cron cron;
  parts_.repository->write([&](Tables& tables) {
    const auto found = tables.crons().get(id, caller.owner);
    if (!found) throw ServiceError(404, "Not Found");
    cron = *found;
    set_fields(body, caller, parts_.options.webhooks, cron);
    cron.payload = cron.payload.set("assistant_id", cron.assistant_id);
    cron.updated_at = parts_.now();
    set_next(cron, cron.updated_at);
    tables.crons().put(cron);
  });
  changed();
  return cron_value(cron);
}

void CronService::remove(const Caller& caller, const std::string& text) {
  const std::string id = checked_uuid(text, "cron");
  parts_.repository->write([&](Tables& tables) {
    if (!tables.crons().get(id, caller.owner)) throw ServiceError(404, "Not Found");
    tables.crons().erase(id);
  });
}

// Firing ------------------------------------------------------------------------

CronService::~CronService() { stop(); }

void CronService::start() {
  clock_ = std::thread([this] { keep_time(); });
}

void CronService::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (clock_.joinable()) clock_.join();
}

void CronService::changed() {
  {
    const std::lock_guard lock(mutex_);
    has_changed_ = true;
  }
  changed_.notify_all();
}

void CronService::keep_time() {
  constexpr std::chrono::microseconds kLongest = std::chrono::minutes(1);
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    has_changed_ = false;
    lock.unlock();
    std::chrono::microseconds pause = kLongest;
    try {
      fire_due(parts_.now());
      const auto next =
          parts_.repository->look([](const Tables& tables) { return tables.crons().next(); });
      if (next) pause = std::clamp(*next->next_run_date - parts_.now(), pause * 0, kLongest);
    } catch (const std::exception&) {
      // The data cannot be read now; it is tried again.
    }
    lock.lock();
    changed_.wait_for(lock, pause, [this] { return has_changed_ || is_stopping_; });
  }
}

std::size_t CronService::fire_due(Time now) {
  std::size_t fired = 0;
  while (true) {
    std::optional<Cron> due;
    // First the next time: what follows is not repeated if the server dies.
    parts_.repository->write([&](Tables& tables) {
      due = tables.crons().next();
      if (!due || *due->next_run_date > now) {
        due.reset();
        return;
      }
      Cron later = *due;
      try {
        set_next(later, now);
      } catch (const ServiceError&) {
        later.next_run_date.reset();  // its zone is gone; the others must not wait for it
      }
      tables.crons().put(later);
    });
    if (!due) return fired;
    fire(*due);
    ++fired;
  }
}

void CronService::fire(const Cron& cron) {
  const auto& caller_of = parts_.options.caller_of;
  Caller caller;
  // One that was made before there was auth is nobody's, and its thread as well.
  if (caller_of && !cron.user_id.empty()) caller = caller_of(cron.user_id);
  caller.identity = cron.user_id;
  const RunService::Origin origin{false, cron.cron_id};
  Value body = cron.payload;
  try {
    if (cron.thread_id.empty()) {
      body = body.set("on_completion", cron.on_run_completed);
      runs_.create_stateless(caller, body, origin);
    } else {
      runs_.create(caller, cron.thread_id, body, origin);
    }
  } catch (const ServiceError&) {
    // Its thread or assistant is gone, or a run is in the way: it waits for its next time.
  }
}

}  // namespace clew::server
