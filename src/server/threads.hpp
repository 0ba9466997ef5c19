// Threads and their states.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/parts.hpp"
#include "server/run_queue.hpp"

namespace clew::server {

class ThreadService {
 public:
  ThreadService(ServerParts& parts, EventLog& log, RunQueue& queue)
      : parts_(parts), log_(log), queue_(queue) {}

  Value create(const Caller& caller, const Value& body);
  Listing search(const Caller& caller, const Value& body);
  std::size_t count(const Caller& caller, const Value& body);
  Value get(const Caller& caller, const std::string& id, bool include_ttl);
  Value patch(const Caller& caller, const std::string& id, const Value& body);
  void remove(const Caller& caller, const std::string& id);
  Value copy(const Caller& caller, const std::string& id);
  Value prune(const Caller& caller, const Value& body);
  Value storage(const Caller& caller, const std::string& id);

  // ThreadState objects. Without a checkpoint_id: the newest.
  Value state(const Caller& caller, const std::string& id, const std::string& checkpoint_id,
              bool subgraphs);
  // {"checkpoint", "subgraphs"}
  Value state_at(const Caller& caller, const std::string& id, const Value& body);
  Value update_state(const Caller& caller, const std::string& id, const Value& body);
  // {"limit", "before", "metadata", "checkpoint"}; the route fills in its default limit.
  Value history(const Caller& caller, const std::string& id, const Value& body);

  // The thread, or ServiceError 404.
  Thread find(const Caller& caller, const std::string& id);

  // GET /threads/{id}/stream. `modes`: run_modes, lifecycle, state_update; empty
  // for run_modes. `last_event_id` as the client sent it; empty: only what comes.
  std::unique_ptr<EventReader> stream(const Caller& caller, const std::string& id,
                                      const std::vector<std::string>& modes,
                                      const std::string& last_event_id);

  // Removes what has lived its time; returns how many threads.
  std::size_t sweep();

 private:
  void erase(const std::string& id);
  std::shared_ptr<const HostedGraph> graph_of(const Thread& thread);
  Thread add_supersteps(Thread thread, const Value& supersteps);
  Value read_state(const Thread& thread, const Config& config, bool subgraphs);

  ServerParts& parts_;
  EventLog& log_;
  RunQueue& queue_;
};

// As the API shows a thread.
Value to_value(const Thread& thread, bool include_ttl = false);

}  // namespace clew::server
