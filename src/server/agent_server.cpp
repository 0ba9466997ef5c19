#include "server/agent_server.hpp"

namespace clew::server {
namespace {

// How long runs have to end that nothing holds up any more.
constexpr std::chrono::milliseconds kLastMoment{500};

}  // namespace

AgentServer::AgentServer(ServerParts parts)
    : parts_(std::move(parts)),
      log(*parts_.repository),
      queue(parts_, log),
      assistants(parts_),
      threads(parts_, log, queue),
      runs(parts_, log, queue),
      crons(parts_, runs),
      store(parts_),
      protocol(parts_, log, runs),
      sweeper_(threads, parts_.options.sweep_interval) {
  parts_.checkpointer->set_gate([this](const std::string& thread_id) { log.flush(thread_id); });
}

// What executes ends first, as it still stores something.
AgentServer::~AgentServer() {
  stop(std::chrono::hours(24));
  parts_.checkpointer->set_gate({});
}

void AgentServer::start() {
  parts_.repository->write([](Tables& tables) { tables.events().erase_orphans(); });
  assistants.make_system_assistants();
  queue.start();
  crons.start();
  sweeper_.start();
}

bool AgentServer::stop(std::chrono::milliseconds limit) {
  sweeper_.stop();
  crons.stop();
  if (queue.stop(limit)) return true;
  log.give_up();
  return queue.stop(kLastMoment);
}

}  // namespace clew::server
