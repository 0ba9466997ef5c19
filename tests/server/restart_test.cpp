// What a server that stops, or is killed, leaves for the next one.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include <sys/wait.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "server/sqlite_repository.hpp"
#include "test_server.hpp"

namespace clew::server {
namespace {

Value slow(int ticks, double delay) {
  return object({{"assistant_id", "slow"},
                 {"input", object({{"ticks", ticks}, {"delay", delay}})},
                 {"stream_mode", list({"custom", "values"})}});
}

TEST(Restart, PendingAndRunningRunsGoOn) {
  TestServer server;
  StartedRun running = server.create(server.thread_id(), slow(100, 0.01));
  read_some(*running.events, 3);
  StartedRun queued = server.create(
      running.thread_id, object({{"assistant_id", "seq"}, {"input", object({{"value", "q"}})}}));
  StartedRun delayed = server.create(
      server.thread_id(),
      object({{"assistant_id", "seq"}, {"input", object({{"value", "d"}})}, {"after_seconds", 1}}));
  for (StartedRun* run : {&running, &queued, &delayed}) run->events.reset();
  server.restart();
  EXPECT_EQ(server.join(queued.thread_id, queued.run_id)["value"], Value("qabc"));
  EXPECT_EQ(server.join(delayed.thread_id, delayed.run_id)["value"], Value("dabc"));
  EXPECT_EQ(server.statuses(running.thread_id), "success success");
  const auto events = read_all(*server.server->runs.stream(server.caller, running.thread_id,
                                                           running.run_id, {}, "-1", nullptr));
  std::string metadata;
  Value values;  // of the run itself: joining it tells those of the thread, which goes on
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].seq, static_cast<std::int64_t>(i) + 1);
    if (events[i].name == "metadata") metadata += to_json(parse_json(events[i].data)["attempt"]);
    if (events[i].name == "values") values = parse_json(events[i].data);
  }
  EXPECT_EQ(metadata, "12");
  EXPECT_EQ(to_json(values["done"]), R"(["work:100","end"])");
}

TEST(Restart, FinishedStepsAreNotRepeated) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  // Stops after `work`, which is stored, and is then cut off in the second run.
  server.wait(thread_id, slow(1, 0.01).set("interrupt_before", list({"end"})));
  StartedRun run = server.create(thread_id, slow(50, 0.02));
  read_some(*run.events, 4);
  run.events.reset();
  server.restart();
  EXPECT_EQ(to_json(server.join(thread_id, run.run_id)["done"]), R"(["work:1","work:50","end"])");
}

TEST(Restart, AStoppedServerTakesNoWork) {
  TestServer server;
  ASSERT_TRUE(server.server->stop(std::chrono::seconds(5)));
  StartedRun run = server.create(server.thread_id(), slow(1, 0.01));
  EXPECT_EQ(server.run(run.thread_id, run.run_id)["status"], Value("pending"));
  run.events.reset();
  server.restart();
  EXPECT_EQ(to_json(server.join(run.thread_id, run.run_id)["done"]), R"(["work:1","end"])");
}

TEST(Restart, ADiskThatTakesNothingDoesNotKeepTheServer) {
  TemporaryFolder folder;
  const std::string path = (folder.path / "server.db").string();
  std::atomic<bool> is_full = false;
  std::string thread_id;
  std::string run_id;
  {
    TestServer server(path, {}, [&] {
      if (is_full) throw StorageError("the disk is full");
    });
    StartedRun run = server.create(server.thread_id(), slow(1, 1));
    read_some(*run.events, 2);
    run.events.reset();
    while (server.state(run.thread_id)["next"] != list({"work"})) std::this_thread::yield();
    is_full = true;
    // The node ends, and what it told and did is to be stored.
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    EXPECT_TRUE(server.server->stop(std::chrono::milliseconds(100)));
    is_full = false;
    thread_id = run.thread_id;
    run_id = run.run_id;
  }
  TestServer server(path, {});
  EXPECT_EQ(to_json(server.join(thread_id, run_id)["done"]), R"(["work:1","end"])");
}

// Kill -9 ---------------------------------------------------------------------------

std::size_t count_lines(const std::string& path) {
  std::ifstream file(path);
  return static_cast<std::size_t>(
      std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
}

// Returns when the victim was killed in the middle of its work.
void kill_a_victim(const std::string& path, const std::string& told, std::size_t after_runs) {
  const std::size_t before = count_lines(told);
  const pid_t victim = fork();
  if (victim == 0) {
    execl(CLEW_SERVER_VICTIM, CLEW_SERVER_VICTIM, "start", path.c_str(), told.c_str(), nullptr);
    _exit(1);
  }
  for (int i = 0; i < 3000 && count_lines(told) < before + after_runs; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);
}

TEST(Restart, NothingAcknowledgedIsLostToSigkill) {
  TemporaryFolder folder;
  const std::string path = (folder.path / "server.db").string();
  const std::string told = (folder.path / "told").string();
  for (const std::size_t after_runs : {3, 12, 30}) kill_a_victim(path, told, after_runs);
  TestServer server(path, {});
  std::ifstream lines(told);
  std::string thread_id;
  std::string run_id;
  int count = 0;
  while (lines >> thread_id >> run_id) {
    const Value result = server.join(thread_id, run_id);
    EXPECT_EQ(result["done"].size(), 2U) << to_json(result);
    EXPECT_EQ(server.run(thread_id, run_id)["status"], Value("success"));
    const auto events =
        read_all(*server.server->runs.stream(server.caller, thread_id, run_id, {}, "-1", nullptr));
    std::set<std::string> values;
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].seq, static_cast<std::int64_t>(i) + 1);
      if (events[i].name == "values") {
        EXPECT_TRUE(values.insert(events[i].data).second) << render(events);
      }
    }
    EXPECT_EQ(values.size(), 3U);
    ++count;
  }
  EXPECT_GE(count, 45);
}

// Encryption ------------------------------------------------------------------------

TEST(Encryption, NothingReadableIsInTheFile) {
  TemporaryFolder folder;
  const std::string path = (folder.path / "server.db").string();
  SqliteRepositoryOptions options;
  options.cipher = std::make_shared<AesEaxCipher>("0123456789abcdef");
  Thread thread;
  thread.thread_id = "0190a5a0-0000-7000-8000-000000000001";
  thread.metadata = object({{"secret-key", "secret-word"}});
  thread.values = object({{"text", "secret-value"}});
  ThreadQuery query;
  query.metadata = thread.metadata;
  {
    const auto repository = open_sqlite_repository(path, options);
    repository->write([&](Tables& tables) {
      tables.threads().put(thread);
      Event event;
      event.thread_id = thread.thread_id;
      event.place = 1;
      event.data = "\"secret-event\"";
      tables.events().append({&event, 1});
    });
  }
  std::string bytes;
  for (const char* suffix : {"", "-wal"}) {
    std::ifstream file(path + suffix, std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(file), {});
  }
  EXPECT_EQ(bytes.find("secret-"), std::string::npos);
  const auto repository = open_sqlite_repository(path, options);
  repository->read([&](const Tables& tables) {
    EXPECT_EQ(tables.threads().search(query).rows.at(0).values, thread.values);
    EXPECT_EQ(tables.events().read(thread.thread_id, 0, 10).at(0).data, "\"secret-event\"");
  });
  EXPECT_THROW(open_sqlite_repository(path), StorageError);
}

// Webhooks --------------------------------------------------------------------------

TEST(Webhooks, WhereTheyMayGo) {
  const auto status = [](const char* url, const WebhookPolicy& policy = {}) {
    return status_of([&] { check_webhook(url, policy); });
  };
  EXPECT_EQ(status("https://hooks.example.com/x?y=1"), 200);
  EXPECT_EQ(status("https://user@hooks.example.com:8443/"), 200);
  EXPECT_EQ(status("https://93.184.216.34/"), 200);
  for (const char* url : {"http://hooks.example.com",
                          "ftp://x",
                          "https://",
                          "nonsense",
                          "https://localhost/",
                          "https://a.localhost",
                          "https://127.0.0.1",
                          "https://127.1/",
                          "https://2130706433/",
                          "https://0x7f000001/",
                          "https://10.1.2.3/",
                          "https://192.168.1.1:8080/x",
                          "https://169.254.169.254/latest",
                          "https://172.16.0.1",
                          "https://[::1]/",
                          "https://[fd00::1]/",
                          "https://[::ffff:127.0.0.1]/",
                          "https://[64:ff9b::10.0.0.1]/",
                          "https://[2002:7f00:1::]/",
                          "https://0.0.0.0/",
                          "https://good.example@127.0.0.1/",
                          "https://x\r\ny/",
                          "https://LOCALHOST/"}) {
    EXPECT_EQ(status(url), 422) << url;
  }
  WebhookPolicy policy;
  policy.require_https = policy.disable_loopback = false;
  EXPECT_EQ(status("http://127.0.0.1:9000/h", policy), 200);
  EXPECT_EQ(status("http://localhost:9000/h", policy), 200);
  EXPECT_EQ(status("ftp://127.0.0.1/", policy), 422);
  EXPECT_EQ(status("http://10.1.2.3/", policy), 422);
  policy = {.disable_private_ips = false};
  EXPECT_EQ(status("https://10.1.2.3/", policy), 200);
  EXPECT_EQ(status("https://127.0.0.1/", policy), 422);
}

}  // namespace
}  // namespace clew::server
