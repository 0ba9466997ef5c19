// Stateless runs that nobody waits for, findable for a while after their end.
//
// Such a run goes with its thread when it ends, often before its client has asked
// for it by the id that it just got. What it answered and its events stay this long.
//
// All methods may be called from any thread.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "server/caller.hpp"
#include "server/event_log.hpp"

namespace clew::server {

class RunEnd;

struct BackgroundRun {
  std::string thread_id = {};
  std::string run_id = {};
  bool is_resumable = false;
  Value owner = {};                          // see Caller
  std::unique_ptr<EventReader> events = {};  // keeps them from being removed
  std::shared_ptr<RunEnd> end = {};
};

class BackgroundRuns : public std::enable_shared_from_this<BackgroundRuns> {
 public:
  void add(BackgroundRun run);

  struct Found {
    std::string thread_id;
    std::string run_id;
    bool is_resumable;
    std::shared_ptr<RunEnd> end;
  };
  // If `caller` may see it.
  std::optional<Found> find(const Caller& caller, const std::string& thread_id,
                            const std::string& run_id) const;

  void clear();

 private:
  void forget(const std::string& run_id);

  mutable std::mutex mutex_;
  std::list<BackgroundRun> runs_;  // the oldest first
};

}  // namespace clew::server
