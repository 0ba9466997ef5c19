// The Agent Server without HTTP: what every route calls.
//
//   AgentServer server({.repository = ..., .checkpointer = ..., .store = ..., .graphs = ...});
//   server.start();
//   Value thread = server.threads.create(caller, object());
//   StartedRun run = server.runs.create(caller, thread["thread_id"].as_string(), body);
//
// All services may be called from any thread.
#pragma once

#include <chrono>

#include "server/assistants.hpp"
#include "server/crons.hpp"
#include "server/event_log.hpp"
#include "server/protocol.hpp"
#include "server/run_queue.hpp"
#include "server/runs.hpp"
#include "server/store_service.hpp"
#include "server/thread_sweeper.hpp"
#include "server/threads.hpp"

namespace clew::server {

class AgentServer {
 private:
  ServerParts parts_;

 public:
  explicit AgentServer(ServerParts parts);
  AgentServer(const AgentServer&) = delete;
  AgentServer& operator=(const AgentServer&) = delete;
  ~AgentServer();

  // Makes the system assistants, takes up unfinished runs, starts crons and the sweeper.
  void start();

  // Ends crons and runs; see RunQueue::stop(). Runs that wait for a disk that takes
  // nothing are cut off after `limit`, too.
  bool stop(std::chrono::milliseconds limit);

  EventLog log;
  RunQueue queue;
  AssistantService assistants;
  ThreadService threads;
  RunService runs;
  CronService crons;
  StoreService store;
  ProtocolService protocol;

 private:
  ThreadSweeper sweeper_;
};

}  // namespace clew::server
