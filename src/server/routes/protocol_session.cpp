#include "server/routes/protocol_session.hpp"

#include <algorithm>
#include <atomic>

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/task.hpp>

#include "server/new_ids.hpp"
#include "server/shapes.hpp"
#include "server/watch.hpp"

namespace clew::server {
namespace {

constexpr std::size_t kEventsAtOnce = 32;

// A client that asks for more while so much waits for it does not take what it asks for.
constexpr std::size_t kMostWaiting = std::size_t{16} << 20;

constexpr int kPolicyViolation = 1008;
constexpr int kInternalError = 1011;

Value refusal(const Value& id, const char* code, const std::string& message) {
  return object({{"type", "error"}, {"id", id}, {"error", code}, {"message", message}});
}

Value success(const Value& id, const Value& result) {
  return object({{"type", "success"}, {"id", id}, {"result", result}});
}

// All events that are stored already.
std::vector<Event> stored_events(EventReader& reader) {
  reader.start([] {});
  std::vector<Event> all;
  for (auto events = reader.next(kEventsAtOnce); !events.empty();
       events = reader.next(kEventsAtOnce)) {
    std::move(events.begin(), events.end(), std::back_inserter(all));
  }
  return all;
}

// The graphs of a run, one in another, with how far each has got.
Value tree_of(const std::map<std::vector<std::string>, Value>& graphs,
              const std::vector<std::string>& ns) {
  const Value& data = graphs.at(ns);
  Value tree = object({{"namespace", ns.empty() ? list() : Value(ns)},
                       {"status", data["event"]},
                       {"graph_name", data["graph_name"]}});
  ListBuilder children;
  for (const auto& [other, unused] : graphs) {
    const bool is_child =
        other.size() == ns.size() + 1 && std::equal(ns.begin(), ns.end(), other.begin());
    if (is_child) children.push_back(tree_of(graphs, other));
  }
  return children.size() == 0 ? tree : tree.set("children", std::move(children).build());
}

}  // namespace

void ProtocolSession::on_message(std::string text) {
  {
    const std::lock_guard lock(mutex_);
    if (outbox_bytes_ > kMostWaiting) return close(kPolicyViolation, "take what was sent first");
  }
  Value reply;
  try {
    reply = reply_to(parse_json(text));
  } catch (const SerdeError&) {
    reply = refusal(Value(), "invalid_argument", "Protocol commands must be valid JSON.");
  }
  const std::lock_guard lock(mutex_);
  put(reply);
  is_starting_ = false;
  pump_locked();
}

void ProtocolSession::on_close() {
  const std::lock_guard lock(mutex_);
  events_.reset();
  subscriptions_.clear();
  read_.clear();
  outbox_.clear();
}

// Commands ----------------------------------------------------------------------

Value ProtocolSession::reply_to(const Value& command) {
  const Value& method = command["method"];
  if (!command.is_object() || !command["id"].is_int() || !method.is_string()) {
    return refusal(command.is_object() ? command["id"] : Value(), "invalid_argument",
                   "Protocol commands must include an integer id and string method.");
  }
  std::unique_lock lock(mutex_);
  if (method == Value("subscription.subscribe")) return subscribe(command, false);
  if (method == Value("subscription.reconnect")) return subscribe(command, true);
  if (method == Value("subscription.unsubscribe")) return unsubscribe(command);
  if (method == Value("agent.getTree")) return tree(command);
  is_starting_ = true;
  const std::int64_t seq = seq_;
  lock.unlock();  // others wait for a run
  return protocol_.command(caller_, thread_id_, command, seq);
}

Value ProtocolSession::meta() const { return object({{"applied_through_seq", seq_}}); }

Value ProtocolSession::subscribe(const Value& command, bool is_reconnect) {
  const Value& params = command["params"];
  if (is_reconnect && (!params["since"].is_int() || params["since"].as_int() < 0)) {
    return refusal(command["id"], "invalid_argument",
                   "subscription.reconnect requires a non-negative integer since.")
        .set("meta", meta());
  }
  ProtocolFilter filter;
  try {
    filter = ProtocolFilter::of(params);
  } catch (const ServiceError& error) {
    return refusal(command["id"], "invalid_argument", error.detail()).set("meta", meta());
  }
  const Value& wanted = params["subscription_id"];
  const std::string id =
      is_reconnect && wanted.is_string() ? wanted.get<std::string>() : new_uuid4();
  const std::size_t replayed = replay(filter, is_reconnect ? params["since"].as_int() : -1);
  subscriptions_.insert_or_assign(id, filter);
  return success(command["id"], object({{"subscription_id", id},
                                        {"replayed_events", static_cast<std::int64_t>(replayed)}}))
      .set("meta", meta());
}

// Sends what is stored already after `since`; if that is negative, what the first
// subscription of a connection has missed: everything, and a later one: what the
// last run has had to say.
std::size_t ProtocolSession::replay(const ProtocolFilter& filter, std::int64_t since) {
  const bool is_first = events_ == nullptr;
  if (is_first) {
    events_ = protocol_.events(caller_, thread_id_, std::max<std::int64_t>(since, 0));
    events_->start(waker());
  }
  const std::size_t before = outbox_.size();
  const auto past = protocol_.events(caller_, thread_id_, std::max<std::int64_t>(since, 0));
  for (const Event& event : stored_events(*past)) {
    if (is_first) {
      seq_ = event.protocol_seq;
      run_id_ = event.run_id;
    }
    const bool is_missed = since >= 0 || is_first || event.run_id == run_id_;
    if (event.protocol_seq > seq_ || !is_missed || !filter.matches(event)) continue;
    put(protocol_event(event));
  }
  return outbox_.size() - before;
}

Value ProtocolSession::unsubscribe(const Value& command) {
  const Value& id = command["params"]["subscription_id"];
  if (!id.is_string()) {
    return refusal(command["id"], "invalid_argument",
                   "subscription.unsubscribe requires a subscription_id.");
  }
  if (subscriptions_.erase(id.get<std::string>()) == 0) {
    return refusal(command["id"], "no_such_subscription",
                   "Unknown subscription: " + id.get<std::string>());
  }
  return success(command["id"], object()).set("meta", meta());
}

Value ProtocolSession::tree(const Value& command) {
  std::string run_id;
  std::map<std::vector<std::string>, Value> graphs;
  for (const Event& event : stored_events(*protocol_.events(caller_, thread_id_, 0))) {
    if (!event.name.starts_with("lifecycle")) continue;
    if (event.run_id != run_id) graphs.clear();
    run_id = event.run_id;
    const Value params = protocol_event(event)["params"];
    graphs[params["namespace"].get<std::vector<std::string>>()] = params["data"];
  }
  if (!graphs.contains({})) {
    return refusal(command["id"], "no_such_run", "No active run is bound to this thread.");
  }
  return success(command["id"], object({{"tree", tree_of(graphs, {})}})).set("meta", meta());
}

// Events ------------------------------------------------------------------------

// Called from any thread, and with locks held: it only asks for a pump().
std::function<void()> ProtocolSession::waker() {
  const auto is_woken = std::make_shared<std::atomic<bool>>(false);
  return [is_woken, weak = weak_from_this()] {
    if (is_woken->exchange(true)) return;
    default_executor().post([is_woken, weak] {
      *is_woken = false;
      if (const auto self = weak.lock()) self->pump();
    });
  };
}

// On the executor, too, where nothing may be thrown.
void ProtocolSession::pump() {
  try {
    const std::lock_guard lock(mutex_);
    pump_locked();
  } catch (const std::exception&) {
    close(kInternalError, "internal error");
  }
}

void ProtocolSession::put(const Value& message) {
  outbox_.push_back(json_text(message));
  outbox_bytes_ += outbox_.back().size();
}

void ProtocolSession::pump_locked() {
  for (;;) {
    while (!outbox_.empty()) {
      if (!send(outbox_.front())) return;  // on_drained() goes on
      outbox_bytes_ -= outbox_.front().size();
      outbox_.pop_front();
    }
    if (read_.empty() && events_) {
      for (Event& event : events_->next(kEventsAtOnce)) read_.push_back(std::move(event));
    }
    if (read_.empty()) return;
    if (is_starting_ && read_.front().run_id != run_id_) return;  // the reply goes first
    if (waits_for(read_.front())) return;
    take(read_.front());
    read_.pop_front();
  }
}

bool ProtocolSession::waits_for(const Event& event) {
  const auto rest = held_back(event);
  const bool only_watches =
      std::all_of(subscriptions_.begin(), subscriptions_.end(),
                  [](const auto& entry) { return entry.second.only_watches(); });
  if (rest.count() <= 0 || !only_watches) return false;
  default_executor().post_after(rest, waker());
  return true;
}

void ProtocolSession::take(const Event& event) {
  if (event.protocol_seq <= seq_) return;  // a subscription was told already
  seq_ = event.protocol_seq;
  run_id_ = event.run_id;
  const bool is_wanted =
      std::any_of(subscriptions_.begin(), subscriptions_.end(),
                  [&](const auto& entry) { return entry.second.matches(event); });
  if (is_wanted) put(protocol_event(event));
}

}  // namespace clew::server
