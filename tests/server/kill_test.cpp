// Runs whose server is killed again and again show the same as if nothing had happened.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <set>

#include <sys/wait.h>

#include <clew/json.hpp>

#include "server/sqlite_repository.hpp"
#include "test_server.hpp"

namespace clew::server {
namespace {

// What is run, on a thread of its own after `before`, if that is not null.
struct Scenario {
  const char* name;
  Value before;
  Value body;
  bool is_parallel = false;  // its tasks tell in any order
};

Value body(const char* graph, const Value& input, const char* durability = "async") {
  return object({{"assistant_id", graph},
                 {"input", input},
                 {"durability", durability},
                 {"stream_mode", list({"values", "updates", "custom", "messages"})}});
}

Value answer(const char* graph, const Value& resume) {
  return body(graph, {}).erase("input").set("command", object({{"resume", resume}}));
}

std::vector<Scenario> scenarios() {
  const Value text = object({{"text", "x"}});
  const Value name = object({{"name", "ada"}});
  const Value value = object({{"value", "v"}});
  const auto with_subgraphs = [](const Value& run) { return run.set("stream_subgraphs", true); };
  return {
      {"seq", {}, body("seq", value)},
      {"seq, sync", {}, body("seq", value, "sync")},
      {"seq, exit", {}, body("seq", value, "exit")},
      {"seq, all modes",
       {},
       body("seq", value)
           .set("stream_mode", list({"values", "updates", "tasks", "checkpoints", "debug"}))},
      {"slow", {}, body("slow", object({{"ticks", 4}, {"delay", 0.002}}))},
      {"echo",
       {},
       body("echo",
            object({{"messages",
                     list({object({{"type", "human"}, {"content", "hi"}, {"id", "h"}})})}}))},
      {"fail", {}, body("fail", object({{"value", "v"}, {"boom", true}}))},
      {"asks", {}, body("approval", text)},
      {"answers", body("approval", text), answer("approval", "yes")},
      {"nested asks", {}, with_subgraphs(body("nested", name))},
      {"nested answers", body("nested", name), with_subgraphs(answer("nested", "red"))},
      {"fan", {}, body("fan", name), true},
      {"fan, exit", {}, body("fan", name, "exit"), true},
      {"deep", {}, body("deep", name)},
      {"deep, subgraphs", {}, with_subgraphs(body("deep", name))},
      {"deep, sync", {}, with_subgraphs(body("deep", name, "sync"))},
  };
}

// What one sees of a run ----------------------------------------------------------

// Ids in the order in which they appear, so that one stands for the same in both.
std::string without_ids(const std::string& text, bool keeps_order) {
  static const std::regex id(
      R"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b)");
  std::map<std::string, std::string> names;
  std::string result;
  auto begin = text.begin();
  for (std::sregex_iterator match(text.begin(), text.end(), id), end; match != end; ++match) {
    const auto [named, is_new] = names.emplace(match->str(), std::to_string(names.size()));
    result.append(begin, text.begin() + match->position());
    result += keeps_order ? "ID" + named->second : "ID";
    begin = text.begin() + match->position() + match->length();
  }
  return result.append(begin, text.end());
}

std::string without_time(const std::string& text) {
  static const std::regex time(
      R"("run_attempt":\d+|"timestamp":"[^"]*"|"__request_start_time_ms__":\d+)");
  return std::regex_replace(text, time, "TIME");
}

// The stream as text. Of tasks side by side the order among them is left out.
std::string shown(const std::vector<Event>& events, bool is_parallel) {
  std::vector<std::string> lines;
  for (const Event& event : events) {
    const bool is_new_attempt =
        event.name == "metadata" && parse_json(event.data)["attempt"] != Value(1);
    if (!is_new_attempt) lines.push_back(event.name + " " + without_time(event.data));
  }
  if (is_parallel) std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return without_ids(text, !is_parallel);
}

void expect_gapless(const std::vector<Event>& events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].seq, static_cast<std::int64_t>(i) + 1);
    EXPECT_GE(events[i].ms, events[i > 0 ? i - 1 : 0].ms);
  }
}

struct KilledRun {
  Scenario scenario;
  std::string thread_id;
  std::string run_id;
  std::vector<Event> seen = {};  // by a reader before the last kill
};

std::vector<Event> stored_events(Repository& repository, const KilledRun& run) {
  auto events = repository.look(
      [&](const Tables& tables) { return tables.events().read(run.thread_id, 0, 10'000); });
  std::erase_if(events, [&](const Event& event) {
    return event.run_id != run.run_id || event.kind != EventKind::run;
  });
  return events;
}

// What was seen stays as it was; the reader goes on after it.
void read_on(Repository& repository, KilledRun& run) {
  const std::vector<Event> events = stored_events(repository, run);
  ASSERT_GE(events.size(), run.seen.size());
  for (std::size_t i = 0; i < run.seen.size(); ++i) {
    EXPECT_EQ(events[i].id() + events[i].data, run.seen[i].id() + run.seen[i].data);
  }
  run.seen = events;
}

// Killing ---------------------------------------------------------------------------

// Finishes what is there. False if it was killed before, at its `count`-th commit.
bool finish(const std::string& path, int count) {
  const pid_t victim = fork();
  if (victim == 0) {
    execl(CLEW_SERVER_VICTIM, CLEW_SERVER_VICTIM, "finish", path.c_str(),
          std::to_string(count).c_str(), nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(victim, &status, 0);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : 0, 0);
  return WIFEXITED(status);
}

// Stopped before they begin, so that a victim does all of them.
std::vector<KilledRun> prepare(const std::string& path, const std::vector<Scenario>& all) {
  TestServer server(path, {});
  std::vector<KilledRun> runs;
  for (const Scenario& scenario : all) {
    runs.push_back({scenario, server.thread_id(), {}});
    if (!scenario.before.is_null()) server.wait(runs.back().thread_id, scenario.before);
  }
  EXPECT_TRUE(server.server->stop(std::chrono::seconds(10)));
  for (KilledRun& run : runs) run.run_id = server.create(run.thread_id, run.scenario.body).run_id;
  return runs;
}

std::map<std::string, std::string> undisturbed() {
  TestServer server;
  std::map<std::string, std::string> streams;
  for (const Scenario& scenario : scenarios()) {
    const std::string thread_id = server.thread_id();
    if (!scenario.before.is_null()) server.wait(thread_id, scenario.before);
    const StartedRun run = server.create(thread_id, scenario.body);
    streams[scenario.name] = shown(read_all(*run.events), scenario.is_parallel);
  }
  return streams;
}

// The first commits of a server are its own, so some are needed to get on.
int some_commits(std::minstd_rand& random) { return 6 + static_cast<int>(random() % 12); }

void kill_often(unsigned seed, const std::map<std::string, std::string>& expected) {
  TemporaryFolder folder;
  const std::string path = (folder.path / "server.db").string();
  std::vector<KilledRun> runs = prepare(path, scenarios());
  std::minstd_rand random(seed);
  int kills = 0;
  while (!finish(path, some_commits(random))) {
    const auto repository = open_sqlite_repository(path);
    for (KilledRun& run : runs) read_on(*repository, run);
    ASSERT_LT(++kills, 300);
  }
  EXPECT_GE(kills, 5);
  const auto repository = open_sqlite_repository(path);
  for (KilledRun& run : runs) {
    SCOPED_TRACE(run.scenario.name);
    read_on(*repository, run);
    expect_gapless(run.seen);
    EXPECT_EQ(shown(run.seen, run.scenario.is_parallel), expected.at(run.scenario.name));
  }
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr unsigned kRounds = 1;  // a server takes its time to start
#else
constexpr unsigned kRounds = 3;
#endif

TEST(Kill, StreamsAreAsIfNothingHadHappened) {
  const auto expected = undisturbed();
  for (unsigned seed = 1; seed <= kRounds; ++seed) kill_often(seed, expected);
}

// By thread, the nodes whose work is in its last checkpoint.
std::map<std::string, std::set<std::string>> stored_work(const std::string& path,
                                                         const std::vector<KilledRun>& runs) {
  const auto saver = SqliteSaver::open(path);
  std::map<std::string, std::set<std::string>> work;
  for (const KilledRun& run : runs) {
    const auto saved = saver->get_tuple({run.thread_id, "", ""});
    if (!saved) continue;
    for (const Value& node : saved->checkpoint.channel_values["log"]) {
      work[run.thread_id].emplace(node.as_string());
    }
  }
  return work;
}

TEST(Kill, WhatIsInACheckpointIsNotExecutedAgain) {
  TemporaryFolder folder;
  const std::string path = (folder.path / "server.db").string();
  const std::string trace = (folder.path / "trace").string();
  const Scenario traced{"traced", {}, body("traced", object({{"file", trace}}), "sync")};
  const std::vector<KilledRun> runs = prepare(path, std::vector<Scenario>(8, traced));
  std::minstd_rand random(3);
  std::map<std::string, std::set<std::string>> done;
  std::size_t lines_read = 0;
  int kills = -1;
  for (bool is_finished = false; !is_finished;) {
    is_finished = finish(path, some_commits(random));
    std::ifstream lines(trace);
    std::string thread_id;
    std::string node;
    for (std::size_t line = 0; lines >> thread_id >> node; ++line) {
      if (line < lines_read) continue;
      EXPECT_FALSE(done[thread_id].contains(node)) << thread_id << " executed " << node << " again";
      ++lines_read;
    }
    done = stored_work(path, runs);
    ++kills;
  }
  EXPECT_GE(kills, 3);
  EXPECT_EQ(done.size(), 8U);
  for (const auto& [thread_id, nodes] : done) {
    EXPECT_EQ(nodes, (std::set<std::string>{"a", "b", "c", "d"})) << thread_id;
  }
}

}  // namespace
}  // namespace clew::server
