#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <clew/json.hpp>

#include "server/routes/protocol_session.hpp"
#include "test_server.hpp"

namespace clew::server {
namespace {

using namespace std::chrono_literals;

Value run_of(const char* graph, const char* input, const char* modes) {
  return object(
      {{"assistant_id", graph}, {"input", parse_json(input)}, {"stream_mode", parse_json(modes)}});
}

// With ids that differ from run to run left out.
std::string names(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) text += (text.empty() ? "" : " ") + event.name;
  return text;
}

TEST(Streams, ValuesAndUpdatesInOrder) {
  TestServer server;
  const StartedRun run = server.create(
      server.thread_id(), run_of("seq", R"({"value": "x"})", R"(["values", "updates"])"));
  EXPECT_EQ(render(read_all(*run.events)), "metadata {\"run_id\":\"" + run.run_id +
                                               "\",\"attempt\":1}\n" +
                                               R"(values {"value":"x","log":[]}
updates {"a":{"value":"xa","log":["a"]}}
values {"value":"xa","log":["a"]}
updates {"b":{"value":"xab","log":["b"]}}
values {"value":"xab","log":["a","b"]}
updates {"c":{"value":"xabc","log":["c"]}}
values {"value":"xabc","log":["a","b","c"]}
)");
}

TEST(Streams, IdsAreGaplessAndRise) {
  TestServer server;
  const StartedRun run = server.create(
      server.thread_id(), run_of("slow", R"({"ticks": 3, "delay": 0.01})", R"(["custom"])"));
  const std::vector<Event> events = read_all(*run.events);
  ASSERT_EQ(events.size(), 4U);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].seq, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(events[i].id(), std::to_string(events[i].ms) + "-" + std::to_string(i + 1));
    if (i > 0) {
      EXPECT_GE(events[i].ms, events[i - 1].ms);
    }
  }
}

TEST(Streams, TheStatusIsFinalWhenTheStreamIsOver) {
  TestServer server;
  for (int i = 0; i < 10; ++i) {
    const StartedRun run =
        server.create(server.thread_id(), run_of("seq", R"({"value": "x"})", R"(["values"])"));
    read_all(*run.events);
    EXPECT_EQ(server.run(run.thread_id, run.run_id)["status"], Value("success"));
  }
}

TEST(Streams, ErrorsEndThem) {
  TestServer server;
  const std::string text =
      server.stream(server.thread_id(), run_of("fail", R"({"value": "z"})", R"(["updates"])"));
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            R"(updates {"ok_step":{"value":"zok"}}
error {"error":"ValueError","message":"boom at maybe_boom"}
)");
}

TEST(Streams, TasksAndCheckpointsAndDebug) {
  TestServer server;
  const auto read = [&](const char* mode) {
    const StartedRun run =
        server.create(server.thread_id(), run_of("seq", R"({"value": "x"})", mode));
    return read_all(*run.events);
  };
  const auto tasks = read(R"(["tasks"])");
  ASSERT_EQ(tasks.size(), 7U);
  EXPECT_EQ(parse_json(tasks[1].data)["metadata"]["graph_id"], Value("seq"));
  EXPECT_EQ(to_json(parse_json(tasks[2].data)["result"]), R"({"value":"xa","log":["a"]})");
  const auto checkpoints = read(R"(["checkpoints"])");
  ASSERT_EQ(checkpoints.size(), 6U);
  const Value first = parse_json(checkpoints[1].data);
  EXPECT_EQ(first["config"]["configurable"]["graph_id"], Value("seq"));
  EXPECT_TRUE(first["config"]["configurable"]["checkpoint_id"].is_string());
  const auto debug = read(R"(["debug"])");
  ASSERT_EQ(debug.size(), 12U);
  const Value checkpoint = parse_json(debug[1].data);
  EXPECT_EQ(checkpoint["type"], Value("checkpoint"));
  EXPECT_TRUE(checkpoint["payload"]["checkpoint"]["checkpoint_id"].is_string());
  EXPECT_TRUE(checkpoint["payload"]["parent_checkpoint"].is_null());
  const auto callbacks = read(R"(["events"])");
  ASSERT_EQ(callbacks.size(), 12U);
  EXPECT_EQ(parse_json(callbacks[1].data)["event"], Value("on_chain_start"));
  EXPECT_EQ(parse_json(callbacks[11].data)["data"]["output"]["value"], Value("xabc"));
}

TEST(Streams, SubgraphsAreNamedByTheirNamespace) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const StartedRun run =
      server.create(thread_id, run_of("nested", R"({"name": " bob "})", R"(["values", "updates"])")
                                   .set("stream_subgraphs", true));
  std::vector<Event> events = read_all(*run.events);
  for (Event& event : events) event.name = event.name.substr(0, event.name.find(':'));
  EXPECT_EQ(names(events),
            "metadata values updates values values|child updates|child values|child "
            "updates|child values|child updates values");
  EXPECT_EQ(parse_json(events.back().data)["__interrupt__"][0]["value"], Value("color for bob?"));
  const std::string resumed = server.stream(thread_id, parse_json(R"({"assistant_id": "nested",
          "command": {"resume": "red"}, "stream_mode": ["updates"]})"));
  EXPECT_EQ(resumed.substr(resumed.find('\n') + 1),
            R"(updates {"child":{"name":"bob-red","log":["child_greet:bob","child_ask"]}}
updates {"after":{"name":"bob-red!"}}
)");
}

TEST(Streams, MessagesWholeAndAsTuples) {
  TestServer server;
  const char* input = R"({"messages": [{"type": "human", "content": "yo", "id": "m1"}]})";
  const StartedRun run = server.create(
      server.thread_id(), run_of("echo", input, R"(["messages-tuple", "messages", "values"])"));
  const auto events = read_all(*run.events);
  EXPECT_EQ(names(events), "metadata values messages messages/metadata messages/complete values");
  const Value tuple = parse_json(events[2].data);
  EXPECT_EQ(tuple[0]["content"], Value("echo: yo"));
  EXPECT_EQ(tuple[0]["type"], Value("ai"));
  EXPECT_EQ(tuple[1]["langgraph_node"], Value("echo"));
  EXPECT_EQ(tuple[1]["graph_id"], Value("echo"));
  EXPECT_EQ(parse_json(events[4].data)[0]["id"], Value("ai-1"));
}

TEST(Streams, ReadersStartWhereTheyLeft) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  StartedRun run = server.create(
      thread_id, run_of("slow", R"({"ticks": 3, "delay": 0.01})", R"(["custom", "values"])"));
  const std::vector<Event> all = read_all(*run.events);
  ASSERT_EQ(all.size(), 7U);
  const auto read = [&](const std::string& last_event_id, std::vector<std::string> modes = {}) {
    return render(read_all(*server.server->runs.stream(server.caller, thread_id, run.run_id, modes,
                                                       last_event_id, nullptr)));
  };
  EXPECT_EQ(read("-1"), render(all));
  EXPECT_EQ(read(all[2].id()), render({all.begin() + 3, all.end()}));
  EXPECT_EQ(read(all[6].id()), "");
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("-1", {"custom"}),
            "custom {\"tick\":0}\ncustom {\"tick\":1}\ncustom {\"tick\":2}\n");
  EXPECT_EQ(status_of([&] { read("garbage"); }), 422);
  run.events.reset();
  server.restart();
  EXPECT_EQ(read(all[2].id()), render({all.begin() + 3, all.end()}));
}

TEST(Streams, ALateReaderGetsWhatComes) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const StartedRun run =
      server.create(thread_id, run_of("slow", R"({"ticks": 20, "delay": 0.02})", R"(["custom"])"));
  read_some(*run.events, 5);
  const auto late =
      server.server->runs.stream(server.caller, thread_id, run.run_id, {}, "", nullptr);
  const std::vector<Event> rest = read_all(*late);
  EXPECT_LT(rest.size(), 18U);
  EXPECT_EQ(rest.back().data, R"({"tick":19})");
}

TEST(Streams, AThreadsStreamHasAllItsRuns) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  ThreadService& threads = server.server->threads;
  const auto all = threads.stream(server.caller, thread_id, {}, "");
  const auto lifecycle = threads.stream(server.caller, thread_id, {"lifecycle"}, "");
  const auto updates = threads.stream(server.caller, thread_id, {"state_update"}, "");
  const Value body = run_of("seq", R"({"value": "t"})", R"(["updates"])");
  server.wait(thread_id, body);
  server.wait(thread_id, body);
  const std::vector<Event> events = read_some(*all, 10);
  EXPECT_EQ(names(events),
            "metadata updates updates updates metadata metadata updates updates updates metadata");
  EXPECT_EQ(parse_json(events[4].data)["status"], Value("run_done"));
  EXPECT_EQ(names(read_some(*lifecycle, 4)), "metadata metadata metadata metadata");
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_LT(std::pair(events[i - 1].ms, events[i - 1].seq),
              std::pair(events[i].ms, events[i].seq));
  }
  const auto after = threads.stream(server.caller, thread_id, {}, events[3].id());
  EXPECT_EQ(render(read_some(*after, 6)), render({events.begin() + 4, events.end()}));

  threads.update_state(server.caller, thread_id,
                       parse_json(R"({"values": {"value": "su"}, "as_node": "a"})"));
  const std::vector<Event> changed = read_some(*updates, 1);
  EXPECT_EQ(to_json(parse_json(changed[0].data)["state"]["next"]), R"(["b"])");
  EXPECT_EQ(status_of([&] { threads.stream(server.caller, thread_id, {"bogus"}, ""); }), 422);
  EXPECT_EQ(status_of([&] { threads.stream(server.caller, thread_id, {}, "garbage"); }), 422);
}

TEST(Streams, ManyEventsAreReadFromTheFile) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const StartedRun run =
      server.create(thread_id, run_of("slow", R"({"ticks": 1000, "delay": 0})", R"(["custom"])"));
  server.join(thread_id, run.run_id);
  const std::vector<Event> events = read_all(*run.events);
  ASSERT_EQ(events.size(), 1001U);
  EXPECT_EQ(events.back().data, R"({"tick":999})");
}

TEST(Streams, EventsGoWithTheirRun) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const StartedRun run =
      server.create(thread_id, run_of("seq", R"({"value": "t"})", R"(["updates"])"));
  read_all(*run.events);
  server.server->runs.remove(server.caller, thread_id, run.run_id);
  EXPECT_EQ(status_of([&] {
              server.server->runs.stream(server.caller, thread_id, run.run_id, {}, "-1", nullptr);
            }),
            404);
}

// The thread-scoped protocol ------------------------------------------------------

Value command(TestServer& server, const std::string& thread_id, const char* method,
              const Value& params) {
  return server.server->protocol.command(
      server.caller, thread_id, object({{"id", 1}, {"method", method}, {"params", params}}));
}

// "seq method namespace data" of each event.
std::string history(TestServer& server, const std::string& thread_id, const Value& wanted,
                    std::size_t count) {
  const auto reader =
      server.server->protocol.stream(server.caller, thread_id, ProtocolFilter::of(wanted));
  std::string text;
  for (const Event& stored : read_some(*reader, count)) {
    const Value event = protocol_event(stored);
    std::string ns;
    for (const Value& segment : event["params"]["namespace"]) {
      ns += std::string(segment.as_string()).substr(0, segment.as_string().find(':')) + " ";
    }
    const Value& data = event["params"]["data"];
    text += to_json(event["seq"]) + " " + event["method"].get<std::string>() + " " + ns +
            (event["method"] == Value("lifecycle") ? data["event"].get<std::string>()
                                                   : to_json(data.erase("interrupt_id"))) +
            "\n";
  }
  return text;
}

const char* const kThread = "0190a5a0-0000-7000-8000-000000000007";

TEST(Protocol, AThreadsHistoryIsNumbered) {
  TestServer server;
  const Value start = parse_json(R"({"assistant_id": "seq", "input": {"value": "x"}})");
  const Value first = command(server, kThread, "run.start", start);
  EXPECT_EQ(first["type"], Value("success"));
  const Value all = parse_json(R"({"channels": ["values", "lifecycle", "input"]})");
  const std::string expected = R"(1 lifecycle running
2 values {"value":"x","log":[]}
3 values {"value":"xa","log":["a"]}
4 values {"value":"xab","log":["a","b"]}
5 values {"value":"xabc","log":["a","b","c"]}
6 lifecycle completed
)";
  EXPECT_EQ(history(server, kThread, all, 6), expected);
  command(server, kThread, "run.start", start);
  EXPECT_EQ(history(server, kThread, all.set("since", 5), 3),
            "6 lifecycle completed\n7 lifecycle running\n"
            "8 values {\"value\":\"x\",\"log\":[\"a\",\"b\",\"c\"]}\n");
  EXPECT_EQ(history(server, kThread, parse_json(R"({"channels": ["lifecycle"]})"), 4),
            "1 lifecycle running\n6 lifecycle completed\n7 lifecycle running\n"
            "12 lifecycle completed\n");
  server.restart();
  EXPECT_EQ(history(server, kThread, all, 6).substr(0, expected.size()), expected);
}

TEST(Protocol, QuestionsAreEventsAndAnswered) {
  TestServer server;
  command(server, kThread, "run.start",
          parse_json(R"({"assistant_id": "approval", "input": {"text": "ok"}})"));
  const Value all = parse_json(R"({"channels": ["values", "lifecycle", "input"]})");
  EXPECT_EQ(history(server, kThread, all, 6), R"(1 lifecycle running
2 values {"text":"ok","log":[]}
3 values {"text":"OK","log":["draft"]}
4 input.requested {"payload":{"question":"approve OK?"},"value":{"question":"approve OK?"}}
5 lifecycle interrupted
6 values {"text":"OK","log":["draft"]}
)");
  const auto reader = server.server->protocol.stream(
      server.caller, kThread, ProtocolFilter::of(parse_json(R"({"channels": ["input"]})")));
  const Value question = protocol_event(read_some(*reader, 1)[0])["params"]["data"];
  const Value answer = object({{"interrupt_id", question["interrupt_id"]}, {"response", "sure"}});
  EXPECT_EQ(command(server, kThread, "input.respond", answer)["type"], Value("success"));
  EXPECT_EQ(history(server, kThread, all.set("since", 6), 5), R"(7 lifecycle running
8 values {"text":"OK","log":["draft"]}
9 values {"text":"OK","answer":"sure","log":["draft","ask"]}
10 values {"text":"OK:sure","answer":"sure","log":["draft","ask","finish"]}
11 lifecycle completed
)");
  EXPECT_EQ(command(server, kThread, "input.respond", answer)["error"], Value("no_such_interrupt"));
}

TEST(Protocol, InputAnswersAnOpenQuestion) {
  TestServer server;
  command(server, kThread, "run.start",
          parse_json(R"({"assistant_id": "approval", "input": {"text": "ok"}})"));
  command(server, kThread, "run.start",
          parse_json(R"({"assistant_id": "approval", "input": "yes"})"));
  history(server, kThread, parse_json(R"({"channels": ["lifecycle"]})"), 4);
  EXPECT_EQ(server.state(kThread)["values"]["text"], Value("OK:yes"));
}

TEST(Protocol, SubgraphsHaveNamespaces) {
  TestServer server;
  command(server, kThread, "run.start",
          parse_json(R"({"assistant_id": "nested", "input": {"name": "bob"}})"));
  const Value all = parse_json(R"({"channels": ["values", "lifecycle", "input"]})");
  EXPECT_EQ(history(server, kThread, all, 11), R"(1 lifecycle running
2 values {"name":"bob"}
3 values {"name":"bob"}
4 values child {"name":"bob","log":[]}
5 lifecycle child started
6 values child {"name":"bob","log":["child_greet:bob"]}
7 input.requested child {"payload":"color for bob?","value":"color for bob?"}
8 lifecycle interrupted
9 values child {"name":"bob","log":["child_greet:bob"]}
10 values {"name":"bob"}
11 lifecycle child interrupted
)");
  EXPECT_EQ(history(server, kThread,
                    parse_json(R"({"channels": ["values"], "namespaces": [[]], "depth": 0})"), 3),
            "2 values {\"name\":\"bob\"}\n3 values {\"name\":\"bob\"}\n10 values "
            "{\"name\":\"bob\"}\n");
}

// Each of them would hold a thread that others need.
TEST(Protocol, FewCommandsWaitForRunsAtATime) {
  TestServer server;
  const Value busy =
      object({{"assistant_id", "slow"}, {"input", object({{"ticks", 1}, {"delay", 60}})}});
  std::vector<std::string> threads;
  for (int i = 0; i < 16; ++i) threads.push_back(server.thread_id());
  std::vector<StartedRun> runs;
  for (const std::string& thread_id : threads) runs.push_back(server.create(thread_id, busy));
  std::atomic<int> answered = 0;
  std::vector<std::jthread> clients;
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& thread_id : threads) {
    clients.emplace_back([&server, &answered, thread_id, busy] {
      EXPECT_EQ(command(server, thread_id, "run.start", busy)["type"], Value("success"));
      ++answered;
    });
  }
  const auto is_early = [&] { return std::chrono::steady_clock::now() - start < 4s; };
  while (answered < 8 && is_early()) std::this_thread::sleep_for(10ms);
  EXPECT_GE(answered, 8);
  clients.clear();
  for (const std::string& thread_id : threads) {
    server.server->threads.remove(server.caller, thread_id);
  }
}

// Takes nothing.
class FullLink final : public WebSocketLink {
 public:
  bool send(std::string) override { return false; }
  void close(int code, std::string) override { closed_with = code; }

  int closed_with = 0;
};

TEST(Protocol, AClientThatTakesNothingIsNotKeptMoreAndMoreFor) {
  TestServer server;
  const Value input = object({{"value", std::string(1 << 20, 'x')}});
  server.wait(
      server.create_thread(object({{"thread_id", kThread}}))["thread_id"].get<std::string>(),
      object({{"assistant_id", "seq"}, {"input", input}}));
  const auto link = std::make_shared<FullLink>();
  const auto session =
      std::make_shared<ProtocolSession>(server.server->protocol, server.caller, kThread);
  session->attach(link);
  const std::string again =
      R"({"id": 1, "method": "subscription.reconnect", "params": {"channels": ["values"], "since": 0}})";
  int asked = 0;
  for (; link->closed_with == 0 && asked < 100; ++asked) session->on_message(again);
  EXPECT_EQ(link->closed_with, 1008);
  EXPECT_LT(asked, 20);
  session->on_close();
}

TEST(Protocol, WrongCommands) {
  TestServer server;
  EXPECT_EQ(command(server, kThread, "foo.bar", object())["error"], Value("unknown_command"));
  EXPECT_EQ(command(server, kThread, "run.start", object())["error"], Value("invalid_argument"));
  EXPECT_EQ(command(server, kThread, "agent.getTree", object())["error"], Value("no_such_run"));
  EXPECT_EQ(command(server, kThread, "run.start", object({{"assistant_id", "nope"}}))["message"]
                .get<std::string>()
                .substr(0, 4),
            "422:");
  EXPECT_EQ(status_of([&] {
              server.server->protocol.command(server.caller, kThread,
                                              object({{"method", "run.start"}}));
            }),
            400);
  EXPECT_EQ(status_of([&] { ProtocolFilter::of(object()); }), 400);
  EXPECT_EQ(status_of([&] { ProtocolFilter::of(parse_json(R"({"channels": ["bogus"]})")); }), 400);
}

}  // namespace
}  // namespace clew::server
