// Where assistants, threads, runs, crons and events are kept.
//
//   repository.write([&](Tables& tables) {
//     auto thread = tables.threads().get(thread_id, caller.owner);
//     if (!thread) throw ServiceError(404, "...");       // nothing of this is stored
//     thread->status = "busy";
//     tables.threads().put(*thread);
//   });
//
// All methods of a Repository may be called from any thread. Tables belong to
// the function that gets them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/records.hpp"

namespace clew::server {

class AssistantTable {
 public:
  virtual ~AssistantTable() = default;

  // Nothing if it is not there or hidden from this owner.
  virtual std::optional<Assistant> get(std::string_view id, const Value& owner) const = 0;
  virtual Found<Assistant> search(const AssistantQuery& query) const = 0;
  virtual std::size_t count(const AssistantQuery& query) const = 0;
  virtual void put(const Assistant& assistant) = 0;
  // With its versions.
  virtual void erase(std::string_view id) = 0;

  // Newest first. The owner was checked with get().
  virtual std::vector<Assistant> versions(std::string_view id) const = 0;
  virtual void put_version(const Assistant& assistant) = 0;
};

class ThreadTable {
 public:
  virtual ~ThreadTable() = default;

  virtual std::optional<Thread> get(std::string_view id, const Value& owner) const = 0;
  virtual Found<Thread> search(const ThreadQuery& query) const = 0;
  virtual std::size_t count(const ThreadQuery& query) const = 0;
  // Threads whose time to live has passed, in any order.
  virtual std::vector<Thread> expired(Time now, std::size_t limit) const = 0;
  virtual void put(const Thread& thread) = 0;
  // With its runs.
  virtual void erase(std::string_view id) = 0;
};

// Runs are reached through their thread, whose owner was checked before.
class RunTable {
 public:
  virtual ~RunTable() = default;

  virtual std::optional<Run> get(std::string_view thread_id, std::string_view run_id) const = 0;
  // Newest first.
  virtual std::vector<Run> list(const RunQuery& query) const = 0;
  // Pending and running ones, oldest first: of a thread, or of all if it is empty.
  virtual std::vector<Run> unfinished(std::string_view thread_id) const = 0;
  virtual void put(const Run& run) = 0;
  virtual void erase(std::string_view run_id) = 0;
};

class CronTable {
 public:
  virtual ~CronTable() = default;

  virtual std::optional<Cron> get(std::string_view id, const Value& owner) const = 0;
  virtual Found<Cron> search(const CronQuery& query) const = 0;
  virtual std::size_t count(const CronQuery& query) const = 0;
  // The enabled one that fires next, or nothing.
  virtual std::optional<Cron> next() const = 0;
  virtual void put(const Cron& cron) = 0;
  virtual void erase(std::string_view id) = 0;
};

// Where the history of a thread has got to.
struct EventTail {
  std::int64_t place = 0;
  std::int64_t protocol_seq = 0;
  std::int64_t ms = 0;
};

class EventTable {
 public:
  virtual ~EventTable() = default;

  // Events of a thread after `place`, in order, at most so many.
  virtual std::vector<Event> read(std::string_view thread_id, std::int64_t place,
                                  std::size_t limit) const = 0;
  virtual EventTail tail(std::string_view thread_id) const = 0;
  // The greatest seq of a run; 0 if it has none.
  virtual std::int64_t last_seq(std::string_view run_id) const = 0;
  // The place of the last event of a run with at most this seq; the place before
  // its first event if there is none such; nothing if the run has no events.
  virtual std::optional<std::int64_t> place_of(std::string_view run_id, std::int64_t seq) const = 0;
  // The place at which a run made this checkpoint; nothing if it did not.
  virtual std::optional<std::int64_t> place_of_checkpoint(std::string_view run_id,
                                                          std::string_view checkpoint_id) const = 0;
  // The place of the last event of a thread whose id is at most (ms, seq); 0 if none.
  virtual std::int64_t place_at(std::string_view thread_id, std::int64_t ms,
                                std::int64_t seq) const = 0;
  // The same for a protocol_seq.
  virtual std::int64_t place_of_protocol(std::string_view thread_id,
                                         std::int64_t protocol_seq) const = 0;
  virtual void append(std::span<const Event> events) = 0;
  virtual void erase_run(std::string_view run_id) = 0;
  virtual void erase_thread(std::string_view thread_id) = 0;
  // Events of threads that are gone.
  virtual void erase_orphans() = 0;
};

class Tables {
 public:
  virtual ~Tables() = default;

  virtual AssistantTable& assistants() = 0;
  virtual ThreadTable& threads() = 0;
  virtual RunTable& runs() = 0;
  virtual CronTable& crons() = 0;
  virtual EventTable& events() = 0;

  const AssistantTable& assistants() const { return const_cast<Tables&>(*this).assistants(); }
  const ThreadTable& threads() const { return const_cast<Tables&>(*this).threads(); }
  const RunTable& runs() const { return const_cast<Tables&>(*this).runs(); }
  const CronTable& crons() const { return const_cast<Tables&>(*this).crons(); }
  const EventTable& events() const { return const_cast<Tables&>(*this).events(); }
};

// What survives when write() has returned.
enum class Commit {
  full,   // the end of the machine
  quick,  // the end of the process
};

class Repository {
 public:
  Repository() = default;
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;
  virtual ~Repository() = default;

  // Shows one state of all tables.
  virtual void read(const std::function<void(const Tables&)>& look) = 0;

  // All or nothing: what `change` throws undoes it and is thrown on. May share
  // its commit with others. `change` may be called again if a commit failed.
  virtual void write(const std::function<void(Tables&)>& change, Commit commit) = 0;

  void write(const std::function<void(Tables&)>& change) { write(change, Commit::full); }

  // The value that `look` returns.
  template <class Look>
  auto look(const Look& look) {
    std::optional<decltype(look(std::declval<const Tables&>()))> result;
    read([&](const Tables& tables) { result.emplace(look(tables)); });
    return std::move(*result);
  }
};

}  // namespace clew::server
