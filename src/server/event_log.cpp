#include "server/event_log.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>

#include <clew/errors.hpp>

namespace clew::server {
namespace {

// So many of a thread's last events stay in memory, where live readers find them.
constexpr std::size_t kRecentEvents = 256;
constexpr std::size_t kRecentBytes = 256 * 1024;

// Runs that make events faster than the disk takes them wait at this point.
constexpr std::size_t kMostQueued = 10'000;

constexpr std::size_t kReadAtOnce = 256;

constexpr std::chrono::milliseconds kRetryInterval{100};

std::int64_t unix_ms() {
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(now).count();
}

}  // namespace

// A call of append(), on its way to the disk.
struct EventLog::Entry {
  std::shared_ptr<Channel> channel;
  std::vector<Event> events;
  Change change;
  Done done;
  std::string ended_run = {};  // not empty: this is its end
  RunOutcome outcome = {};
};

// What is in memory of a thread's history: as long as a run of it is open or
// somebody reads.
class EventLog::Channel {
 public:
  using Wake = std::function<void()>;

  struct OpenRun {
    std::int64_t last_seq = 0;
    std::vector<std::function<void(const RunOutcome&)>> waiting;
  };

  Channel(std::string id, const EventTail& tail)
      : thread_id(std::move(id)), numbered(tail), stored_place(tail.place) {}

  std::vector<Event> number(const std::string& run_id, std::vector<NewEvent> events);
  void keep(std::vector<Event> events);
  bool read_recent(std::int64_t place, std::size_t limit, std::vector<Event>& events) const;
  // Called without the lock.
  void wake_all();

  const std::string thread_id;

  mutable std::mutex mutex;
  EventTail numbered;         // the last event that has its numbers
  std::int64_t stored_place;  // the last event that is stored
  std::condition_variable stored;
  std::deque<Event> recent;  // up to it, without a gap
  std::size_t recent_bytes = 0;
  std::map<std::string, OpenRun> open_runs;
  bool is_gone = false;  // the thread was removed
  std::map<const void*, Wake> readers;

  // Guarded by channels_mutex_.
  std::size_t users = 0;
  std::vector<std::string> runs_to_erase;
  bool is_to_be_erased = false;
};

// Within a thread ids rise from event to event: a run begins in a millisecond of
// its own, and time does not go back.
std::vector<Event> EventLog::Channel::number(const std::string& run_id,
                                             std::vector<NewEvent> events) {
  const auto run = open_runs.find(run_id);
  const bool starts = run_id.empty() || (run != open_runs.end() && run->second.last_seq == 0);
  numbered.ms = std::max(unix_ms(), numbered.ms + (starts ? 1 : 0));
  std::vector<Event> result;
  for (NewEvent& from : events) {
    Event event;
    event.thread_id = thread_id;
    event.run_id = run_id;
    event.place = ++numbered.place;
    if (from.kind == EventKind::state_update) event.seq = 1;
    const bool is_hidden = from.kind == EventKind::protocol || from.kind == EventKind::checkpoint;
    if (run != open_runs.end() && !is_hidden) {
      event.seq = ++run->second.last_seq;
    }
    if (from.is_of_protocol) event.protocol_seq = ++numbered.protocol_seq;
    event.ms = numbered.ms;
    event.kind = from.kind;
    event.name = std::move(from.name);
    event.data = std::move(from.data);
    event.source = std::move(from.source);
    result.push_back(std::move(event));
  }
  return result;
}

void EventLog::Channel::keep(std::vector<Event> events) {
  for (Event& event : events) {
    stored_place = event.place;
    recent_bytes += event.data.size();
    recent.push_back(std::move(event));
    while (recent.size() > kRecentEvents || (recent_bytes > kRecentBytes && recent.size() > 1)) {
      recent_bytes -= recent.front().data.size();
      recent.pop_front();
    }
  }
}

// False if what follows `place` is no longer in memory.
bool EventLog::Channel::read_recent(std::int64_t place, std::size_t limit,
                                    std::vector<Event>& events) const {
  if (place >= stored_place) return true;
  if (recent.empty() || recent.front().place > place + 1) return false;
  auto next = std::upper_bound(
      recent.begin(), recent.end(), place,
      [](std::int64_t wanted, const Event& event) { return wanted < event.place; });
  for (; next != recent.end() && events.size() < limit; ++next) events.push_back(*next);
  return true;
}

void EventLog::Channel::wake_all() {
  std::vector<Wake> wakes;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [reader, wake] : readers) wakes.push_back(wake);
  }
  for (const Wake& wake : wakes) {
    if (wake) wake();
  }
}

// Reading -----------------------------------------------------------------------

class EventLog::Reader final : public EventReader {
 public:
  // With a run's id the reader ends with the run, else with the thread.
  Reader(EventLog& log, std::shared_ptr<Channel> channel, std::string run_id, std::int64_t place,
         Filter filter)
      : log_(log),
        channel_(std::move(channel)),
        run_id_(std::move(run_id)),
        place_(place),
        filter_(std::move(filter)) {}

  ~Reader() override {
    {
      const std::lock_guard lock(channel_->mutex);
      channel_->readers.erase(this);
    }
    log_.release(channel_);
  }

  void start(std::function<void()> wake) override {
    const std::lock_guard lock(channel_->mutex);
    channel_->readers[this] = std::move(wake);
  }

  std::vector<Event> next(std::size_t limit) override {
    std::vector<Event> events;
    while (events.size() < limit) {
      std::vector<Event> page = read_page(std::min(limit, kReadAtOnce));
      if (page.empty()) break;
      place_ = page.back().place;
      for (Event& event : page) {
        if (events.size() == limit) {
          place_ = events.back().place;
          break;
        }
        if (is_end(event)) {
          has_all_ = true;
          return events;
        }
        if (filter_(event)) events.push_back(std::move(event));
      }
    }
    return events;
  }

  bool is_over() override {
    const std::lock_guard lock(channel_->mutex);
    const bool has_ended =
        run_id_.empty() ? channel_->is_gone : !channel_->open_runs.contains(run_id_);
    return has_ended && (place_ >= channel_->stored_place || has_all_);
  }

 private:
  bool is_end(const Event& event) const {
    return !run_id_.empty() && event.run_id == run_id_ && event.kind == EventKind::run_done;
  }

  std::vector<Event> read_page(std::size_t limit) {
    std::vector<Event> page;
    if (has_all_) return page;
    std::int64_t stored_place = 0;
    {
      const std::lock_guard lock(channel_->mutex);
      if (channel_->read_recent(place_, limit, page)) return page;
      stored_place = channel_->stored_place;
    }
    page = log_.repository_.look([&](const Tables& tables) {
      return tables.events().read(channel_->thread_id, place_, limit);
    });
    if (!page.empty()) return page;
    // What was stored up to then has been removed.
    place_ = std::max(place_, stored_place);
    const std::lock_guard lock(channel_->mutex);
    channel_->read_recent(place_, limit, page);
    return page;
  }

  EventLog& log_;
  const std::shared_ptr<Channel> channel_;
  const std::string run_id_;
  std::int64_t place_;  // of the last event that was looked at
  bool has_all_ = false;
  const Filter filter_;
};

std::unique_ptr<EventReader> EventLog::read_run(const std::string& thread_id,
                                                const std::string& run_id, Start start,
                                                Filter filter) {
  const std::shared_ptr<Channel> target = channel(thread_id);
  std::int64_t place = 0;
  if (start.at == Start::At::now) {
    const std::lock_guard lock(target->mutex);
    place = target->stored_place;
  } else {
    {
      const std::lock_guard lock(target->mutex);
      place = target->stored_place;
    }
    // A run without events begins after all that was stored before this look.
    const std::int64_t seq = start.at == Start::At::beginning ? 0 : start.seq;
    const auto found = repository_.look(
        [&](const Tables& tables) { return tables.events().place_of(run_id, seq); });
    if (found) place = *found;
  }
  return std::make_unique<Reader>(
      *this, target, run_id, place, [run_id, filter = std::move(filter)](const Event& event) {
        return event.kind == EventKind::run && event.run_id == run_id && (!filter || filter(event));
      });
}

std::unique_ptr<EventReader> EventLog::read_thread(const std::string& thread_id, Start start,
                                                   Filter filter) {
  const std::shared_ptr<Channel> target = channel(thread_id);
  std::int64_t place = 0;
  if (start.at == Start::At::now) {
    const std::lock_guard lock(target->mutex);
    place = target->stored_place;
  } else if (start.at == Start::At::after_event) {
    place = repository_.look([&](const Tables& tables) {
      return tables.events().place_at(thread_id, start.ms, start.seq);
    });
  }
  return std::make_unique<Reader>(*this, target, "", place,
                                  [filter = std::move(filter)](const Event& event) {
                                    return event.kind != EventKind::protocol &&
                                           event.kind != EventKind::checkpoint && filter(event);
                                  });
}

std::unique_ptr<EventReader> EventLog::read_protocol(const std::string& thread_id,
                                                     std::int64_t since, Filter filter) {
  const std::shared_ptr<Channel> target = channel(thread_id);
  std::int64_t place = 0;
  if (since > 0) {
    place = repository_.look(
        [&](const Tables& tables) { return tables.events().place_of_protocol(thread_id, since); });
  }
  return std::make_unique<Reader>(*this, target, "", place,
                                  [since, filter = std::move(filter)](const Event& event) {
                                    return event.protocol_seq > since && filter(event);
                                  });
}

// Channels ----------------------------------------------------------------------

// Whoever takes one releases it.
std::shared_ptr<EventLog::Channel> EventLog::channel(const std::string& thread_id) {
  const std::lock_guard lock(channels_mutex_);
  if (const auto found = channels_.find(thread_id); found != channels_.end()) {
    ++found->second->users;
    return found->second;
  }
  // Looked up under the lock: nobody else may number events meanwhile.
  const EventTail tail =
      repository_.look([&](const Tables& tables) { return tables.events().tail(thread_id); });
  const auto made = std::make_shared<Channel>(thread_id, tail);
  channels_.emplace(thread_id, made);
  made->users = 1;
  return made;
}

void EventLog::release(const std::shared_ptr<Channel>& channel) {
  std::vector<std::string> runs;
  bool erases_thread = false;
  {
    const std::lock_guard lock(channels_mutex_);
    if (--channel->users > 0) return;
    runs = std::move(channel->runs_to_erase);
    erases_thread = channel->is_to_be_erased;
    const auto known = channels_.find(channel->thread_id);
    if (known != channels_.end() && known->second == channel) channels_.erase(known);
  }
  if (runs.empty() && !erases_thread) return;
  try {
    repository_.write(
        [&](Tables& tables) {
          if (erases_thread) tables.events().erase_thread(channel->thread_id);
          for (const std::string& run : runs) tables.events().erase_run(run);
        },
        Commit::quick);
  } catch (const Error&) {
    // What stays is of a thread or run that is gone; the next start removes it.
  }
}

void EventLog::erase_when_idle(const std::string& thread_id, const std::string& run_id) {
  const std::shared_ptr<Channel> target = channel(thread_id);
  {
    const std::lock_guard lock(channels_mutex_);
    if (run_id.empty()) {
      target->is_to_be_erased = true;
    } else {
      target->runs_to_erase.push_back(run_id);
    }
  }
  if (run_id.empty()) {
    {
      const std::lock_guard lock(target->mutex);
      target->is_gone = true;
    }
    target->wake_all();
  }
  release(target);
}

void EventLog::erase_run(const std::string& thread_id, const std::string& run_id) {
  erase_when_idle(thread_id, run_id);
}

void EventLog::erase_thread(const std::string& thread_id) { erase_when_idle(thread_id, ""); }

// Writing -----------------------------------------------------------------------

EventLog::EventLog(Repository& repository)
    : repository_(repository), writer_([this] { store_all(); }) {}

EventLog::~EventLog() {
  {
    const std::lock_guard lock(queue_mutex_);
    is_stopping_ = true;
  }
  queue_changed_.notify_all();
  writer_.join();
}

void EventLog::open_run(const std::string& thread_id, const std::string& run_id) {
  const std::shared_ptr<Channel> target = channel(thread_id);  // end_run() releases it
  revive(*target);
  const std::int64_t last_seq =
      repository_.look([&](const Tables& tables) { return tables.events().last_seq(run_id); });
  const std::lock_guard lock(target->mutex);
  target->open_runs[run_id].last_seq = last_seq;
}

// A thread that was removed and made again starts a history of its own, though
// somebody still reads the old one.
void EventLog::revive(Channel& channel) {
  {
    const std::lock_guard lock(channels_mutex_);
    if (!std::exchange(channel.is_to_be_erased, false)) return;
  }
  repository_.write([&](Tables& tables) { tables.events().erase_thread(channel.thread_id); },
                    Commit::quick);
  const std::lock_guard lock(channel.mutex);
  channel.is_gone = false;
}

void EventLog::append(const std::string& thread_id, const std::string& run_id,
                      std::vector<NewEvent> events, Change change, Done done) {
  wait_for_room();
  Entry entry;
  entry.change = std::move(change);
  entry.done = std::move(done);
  number_and_put(thread_id, run_id, std::move(events), std::move(entry));
}

void EventLog::end_run(const std::string& thread_id, const std::string& run_id,
                       std::vector<NewEvent> events, Change change, RunOutcome outcome, Done done) {
  Entry entry;
  entry.change = std::move(change);
  entry.done = std::move(done);
  entry.ended_run = run_id;
  entry.outcome = std::move(outcome);
  number_and_put(thread_id, run_id, std::move(events), std::move(entry));
}

// Numbered and queued at once, so that they are stored in this order.
void EventLog::number_and_put(const std::string& thread_id, const std::string& run_id,
                              std::vector<NewEvent> events, Entry entry) {
  const std::shared_ptr<Channel> target = channel(thread_id);
  entry.channel = target;
  const std::lock_guard lock(target->mutex);
  entry.events = target->number(run_id, std::move(events));
  put(std::move(entry));
}

void EventLog::drop_run(const std::string& thread_id, const std::string& run_id,
                        const std::string& status) {
  end_run(thread_id, run_id, {}, {}, RunOutcome{status, object()}, {});
}

// Most often there is nothing to wait for, and then no channel is made for it.
void EventLog::flush(const std::string& thread_id) {
  std::shared_ptr<Channel> target;
  {
    const std::lock_guard lock(channels_mutex_);
    const auto found = channels_.find(thread_id);
    if (found == channels_.end()) return;
    target = found->second;
  }
  std::unique_lock lock(target->mutex);
  const std::int64_t last = target->numbered.place;
  target->stored.wait(lock, [&] { return target->stored_place >= last || has_given_up_; });
  if (target->stored_place < last) {
    throw StorageError("the server stopped before its events were stored");
  }
}

void EventLog::give_up() {
  has_given_up_ = true;
  {
    const std::lock_guard lock(queue_mutex_);
    room_made_.notify_all();
  }
  const std::lock_guard lock(channels_mutex_);
  for (const auto& [thread_id, channel] : channels_) {
    const std::lock_guard channel_lock(channel->mutex);
    channel->stored.notify_all();
  }
}

void EventLog::leave_run(const std::string& thread_id, const std::string& run_id) {
  const std::shared_ptr<Channel> target = channel(thread_id);
  bool was_open = false;
  {
    const std::lock_guard lock(target->mutex);
    was_open = target->open_runs.erase(run_id) > 0;
  }
  target->wake_all();
  if (was_open) release(target);
  release(target);
}

bool EventLog::when_over(const std::string& thread_id, const std::string& run_id,
                         std::function<void(const RunOutcome&)> then) {
  const std::shared_ptr<Channel> target = channel(thread_id);
  bool is_open = false;
  {
    const std::lock_guard lock(target->mutex);
    const auto run = target->open_runs.find(run_id);
    is_open = run != target->open_runs.end();
    if (is_open) run->second.waiting.push_back(std::move(then));
  }
  release(target);
  return is_open;
}

void EventLog::wait_for_room() {
  if (std::this_thread::get_id() == writer_.get_id()) return;
  std::unique_lock lock(queue_mutex_);
  room_made_.wait(lock,
                  [this] { return queue_.size() < kMostQueued || is_stopping_ || has_given_up_; });
}

void EventLog::put(Entry entry) {
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.push_back(std::move(entry));
  }
  queue_changed_.notify_one();
}

void EventLog::store_all() {
  std::vector<Entry> entries;
  while (true) {
    {
      std::unique_lock lock(queue_mutex_);
      queue_changed_.wait(lock, [this] { return !queue_.empty() || is_stopping_; });
      if (queue_.empty()) return;
      entries.swap(queue_);
    }
    room_made_.notify_all();
    store(entries);
    entries.clear();
  }
}

// Nobody goes on before his events are stored, so it is tried until the disk
// takes them. What fails otherwise fails always, and must not hold up the rest.
void EventLog::store(std::span<Entry> entries) {
  while (true) {
    try {
      commit(entries);
      break;
    } catch (const StorageError&) {
      std::unique_lock lock(queue_mutex_);
      if (queue_changed_.wait_for(lock, kRetryInterval, [this] { return is_stopping_; })) return;
    } catch (const std::exception&) {
      if (entries.size() == 1) break;
      for (Entry& entry : entries) store({&entry, 1});
      return;
    }
  }
  publish(entries);
}

void EventLog::commit(std::span<Entry> entries) {
  const bool has_end = std::any_of(entries.begin(), entries.end(),
                                   [](const Entry& entry) { return !entry.ended_run.empty(); });
  repository_.write(
      [&](Tables& tables) {
        for (const Entry& entry : entries) {
          tables.events().append(entry.events);
          if (entry.change) entry.change(tables);
        }
      },
      has_end ? Commit::full : Commit::quick);
}

void EventLog::publish(std::span<Entry> entries) {
  for (Entry& entry : entries) {
    std::vector<std::function<void(const RunOutcome&)>> waiting;
    bool has_ended = false;
    {
      const std::lock_guard lock(entry.channel->mutex);
      entry.channel->keep(std::move(entry.events));
      entry.channel->stored.notify_all();
      const auto run = entry.channel->open_runs.find(entry.ended_run);
      has_ended = run != entry.channel->open_runs.end();
      if (has_ended) {
        waiting = std::move(run->second.waiting);
        entry.channel->open_runs.erase(run);
      }
    }
    entry.channel->wake_all();
    for (const auto& then : waiting) then(entry.outcome);
    if (entry.done) entry.done();
    if (has_ended) release(entry.channel);
    release(entry.channel);
  }
}

std::optional<EventLog::Start> start_after(std::string_view id) {
  if (id.empty()) return EventLog::Start::now();
  if (id == "-1" || id == "-") return EventLog::Start::beginning();
  const std::size_t dash = id.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto number = [](std::string_view text) -> std::optional<std::int64_t> {
    std::int64_t result = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, result);
    if (text.empty() || error != std::errc() || end != last || result < 0) return std::nullopt;
    return result;
  };
  const auto ms = number(id.substr(0, dash));
  const auto seq = number(id.substr(dash + 1));
  if (!ms || !seq) return std::nullopt;
  return EventLog::Start::after(*ms, *seq);
}

}  // namespace clew::server
