// Gives an arbitrary body to everything that reads one. Whatever it is, it is taken
// or refused by ServiceError with a status below 500 and a text that is UTF-8. The
// repository says no to everything, so each call gets as far as it can without one.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/memory_saver.hpp>
#include <clew/store.hpp>

#include "server/agent_server.hpp"
#include "server/extract.hpp"
#include "server/protocol.hpp"
#include "server/run_request.hpp"
#include "value/utf8.hpp"

namespace {

using namespace clew;
using namespace clew::server;

constexpr const char* kThread = "6f1d6f4c-7a52-4c1f-8a0e-2f8d7c9b1a00";

class ClosedRepository final : public Repository {
 public:
  void read(const std::function<void(const Tables&)>&) override { refuse(); }
  void write(const std::function<void(Tables&)>&, Commit) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw ServiceError(404, "closed"); }
};

AgentServer& closed_server() {
  static AgentServer server([] {
    ServerParts parts;
    parts.repository = std::make_shared<ClosedRepository>();
    parts.checkpointer =
        std::make_shared<CheckpointsAfterEvents>(std::make_shared<InMemorySaver>());
    parts.store = std::make_shared<InMemoryStore>();
    parts.graphs = std::make_shared<GraphRegistry>(CompileOptions());
    return parts;
  }());
  return server;
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// ServiceErrors are answers; anything else would be a 500.
template <class Call>
void expect_answer(const Call& call) {
  try {
    call();
  } catch (const ServiceError& error) {
    require(error.status() >= 400 && error.status() < 500, "it is the caller's mistake");
    require(internal::find_invalid_utf8(error.detail()) == std::string_view::npos, "UTF-8");
  }
}

void read_as_each(const Value& body) {
  AgentServer& server = closed_server();
  const Caller caller;
  expect_answer([&] { RunRequest::of(body, {}); });
  expect_answer([&] { ProtocolFilter::of(body); });
  if (body.is_object()) {
    expect_answer([&] { extract(body, extract_paths(body)); });
  }
  expect_answer([&] { server.assistants.create(caller, body); });
  expect_answer([&] { server.assistants.search(caller, body); });
  expect_answer([&] { server.assistants.patch(caller, kThread, body); });
  expect_answer([&] { server.assistants.versions(caller, kThread, body); });
  expect_answer([&] { server.assistants.set_latest(caller, kThread, body); });
  expect_answer([&] { server.threads.create(caller, body); });
  expect_answer([&] { server.threads.search(caller, body); });
  expect_answer([&] { server.threads.patch(caller, kThread, body); });
  expect_answer([&] { server.threads.prune(caller, body); });
  expect_answer([&] { server.threads.state_at(caller, kThread, body); });
  expect_answer([&] { server.threads.update_state(caller, kThread, body); });
  expect_answer([&] { server.threads.history(caller, kThread, body); });
  expect_answer([&] { server.runs.create_batch(caller, body); });
  expect_answer([&] { server.runs.cancel_many(caller, body, CancelAction::interrupt); });
  expect_answer([&] { server.crons.create(caller, "", body); });
  expect_answer([&] { server.crons.search(caller, body); });
  expect_answer([&] { server.crons.patch(caller, kThread, body); });
  expect_answer([&] { server.store.put(caller, body); });
  expect_answer([&] { server.store.search(caller, body); });
  expect_answer([&] { server.store.remove(caller, body); });
  expect_answer([&] { server.store.namespaces(caller, body); });
  expect_answer([&] { server.protocol.command(caller, kThread, body); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Value body;
  try {
    body = parse_json({reinterpret_cast<const char*>(data), size});
  } catch (const SerdeError&) {
    return 0;
  }
  read_as_each(body);
  return 0;
}
