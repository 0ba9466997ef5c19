#include "test_server.hpp"

#include <algorithm>
#include <limits>

#include <clew/json.hpp>

#include "server/sqlite_repository.hpp"
#include "toy_graphs.hpp"

#ifdef __SANITIZE_THREAD__
// Exceptions that cross threads are counted by libstdc++.so, which is not
// instrumented: whoever lets go last seems to race with whoever read before.
extern "C" const char* __tsan_default_suppressions() {
  return "race:clew::Error::~Error\nrace:std::runtime_error::~runtime_error\n";
}
#endif

namespace clew::server {

void RecordedWebhooks::send(const std::string& url, const Value& body,
                            std::function<void(bool)> done) {
  bool is_taken = true;
  {
    const std::lock_guard lock(mutex_);
    sent_.emplace_back(url, body);
    is_taken = refusals-- <= 0;
    changed_.notify_all();
  }
  done(is_taken);
}

std::pair<std::string, Value> RecordedWebhooks::wait_for(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(30), [&] { return sent_.size() >= count; });
  return sent_.at(count - 1);
}

TestServer::TestServer(ServiceOptions server_options)
    : folder(std::in_place),
      path((folder->path / "server.db").string()),
      options(std::move(server_options)) {
  start();
}

TestServer::TestServer(const std::string& file, ServiceOptions server_options,
                       std::function<void()> before_commit)
    : path(file), options(std::move(server_options)), before_commit_(std::move(before_commit)) {
  start();
}

namespace {

class WatchedRepository final : public Repository {
 public:
  WatchedRepository(std::shared_ptr<Repository> repository, std::function<void()> before_commit)
      : repository_(std::move(repository)), before_commit_(std::move(before_commit)) {}

  void read(const std::function<void(const Tables&)>& look) override { repository_->read(look); }
  void write(const std::function<void(Tables&)>& change, Commit commit) override {
    before_commit_();
    repository_->write(change, commit);
  }

 private:
  const std::shared_ptr<Repository> repository_;
  const std::function<void()> before_commit_;
};

}  // namespace

void TestServer::start() {
  saver = SqliteSaver::open(path);
  store = std::make_shared<InMemoryStore>();
  ServerParts parts;
  parts.repository = open_sqlite_repository(path);
  parts.checkpointer = std::make_shared<CheckpointsAfterEvents>(saver);
  if (before_commit_) {
    parts.repository = std::make_shared<WatchedRepository>(parts.repository, before_commit_);
    parts.checkpointer->set_gate([watch = before_commit_](const std::string&) { watch(); });
    parts.checkpointer = std::make_shared<CheckpointsAfterEvents>(parts.checkpointer);
  }
  parts.store = store;
  parts.graphs = make_toy_graphs(parts.checkpointer, store);
  parts.webhooks = webhooks;
  parts.options = options;
  server = std::make_unique<AgentServer>(std::move(parts));
  server->start();
}

void TestServer::restart() {
  EXPECT_TRUE(server->stop(std::chrono::seconds(10)));
  server.reset();
  start();
}

Value TestServer::create_thread(const Value& body) { return server->threads.create(caller, body); }

StartedRun TestServer::create(const std::string& thread_id, const Value& body) {
  return server->runs.create(caller, thread_id, body);
}

Value TestServer::wait(const std::string& thread_id, const Value& body) {
  const StartedRun started = create(thread_id, body);
  Promised<Value> result;
  started.end->then(result.setter());
  return result.get();
}

Value TestServer::wait_stateless(const Value& body) {
  const StartedRun started = server->runs.create_stateless(caller, body);
  Promised<Value> result;
  started.end->then(result.setter());
  return result.get();
}

Value TestServer::join(const std::string& thread_id, const std::string& run_id) {
  Promised<RunService::Joined> joined;
  server->runs.join(caller, thread_id, run_id, joined.setter());
  return joined.get()();
}

std::string TestServer::stream(const std::string& thread_id, const Value& body) {
  const StartedRun started = create(thread_id, body);
  return render(read_all(*started.events));
}

Value TestServer::thread(const std::string& thread_id) {
  return server->threads.get(caller, thread_id, false);
}

Value TestServer::run(const std::string& thread_id, const std::string& run_id) {
  return server->runs.get(caller, thread_id, run_id);
}

Value TestServer::state(const std::string& thread_id) {
  return server->threads.state(caller, thread_id, "", false);
}

std::string TestServer::statuses(const std::string& thread_id) {
  std::string text;
  const Value runs = server->runs.list(caller, thread_id, {}, {});
  for (const Value& run : runs) {
    text += (text.empty() ? "" : " ") + run["status"].get<std::string>();
  }
  return text;
}

namespace {

struct Woken {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_set = false;
};

// Reads so many, or to the end.
std::vector<Event> read_up_to(EventReader& reader, std::size_t most) {
  const auto woken = std::make_shared<Woken>();
  reader.start([woken] {
    const std::lock_guard lock(woken->mutex);
    woken->is_set = true;
    woken->changed.notify_all();
  });
  std::vector<Event> all;
  while (all.size() < most) {
    const bool is_over = reader.is_over();
    std::vector<Event> events = reader.next(std::min<std::size_t>(3, most - all.size()));
    for (Event& event : events) all.push_back(std::move(event));
    if (!events.empty()) continue;
    if (is_over) break;
    std::unique_lock lock(woken->mutex);
    if (reader.is_over()) continue;
    if (!woken->changed.wait_for(lock, std::chrono::seconds(30), [&] { return woken->is_set; })) {
      throw Error("the stream stopped after:\n" + render(all));
    }
    woken->is_set = false;
  }
  return all;
}

}  // namespace

std::vector<Event> read_all(EventReader& reader) {
  return read_up_to(reader, std::numeric_limits<std::size_t>::max());
}

std::vector<Event> read_some(EventReader& reader, std::size_t count) {
  return read_up_to(reader, count);
}

std::string render(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) text += event.name + " " + event.data + "\n";
  return text;
}

}  // namespace clew::server
