#include <clew/json.hpp>

#include "server/passed_headers.hpp"
#include "test_server.hpp"

namespace clew::server {
namespace {

Value seq(const std::string& value) {
  return object({{"assistant_id", "seq"}, {"input", object({{"value", value}})}});
}

Value slow(int ticks, double delay) {
  return object(
      {{"assistant_id", "slow"}, {"input", object({{"ticks", ticks}, {"delay", delay}})}});
}

TEST(Runs, WaitReturnsTheLastState) {
  TestServer server;
  EXPECT_EQ(to_json(server.wait(server.thread_id(), seq("x"))),
            R"({"value":"xabc","log":["a","b","c"]})");
}

TEST(Runs, ACreatedRunIsShownAsItIsStored) {
  TestServer server;
  const Value thread = server.create_thread(object({{"metadata", object({{"p", 1}})}}));
  const std::string thread_id = thread["thread_id"].get<std::string>();
  const StartedRun started = server.create(thread_id, seq("a").set("metadata", object({{"m", 1}})));
  EXPECT_EQ(started.run["status"], Value("pending"));
  EXPECT_EQ(server.thread(thread_id)["status"], Value("busy"));
  EXPECT_EQ(to_json(server.join(thread_id, started.run_id)),
            R"({"value":"aabc","log":["a","b","c"]})");
  const Value run = server.run(thread_id, started.run_id);
  EXPECT_EQ(run["status"], Value("success"));
  const std::string assistant = "7a62baa5-c934-5e7a-bf14-83aef6ffc143";
  EXPECT_EQ(run["assistant_id"], Value(assistant));
  EXPECT_EQ(to_json(run["metadata"]),
            R"({"created_by":"system","p":1,"graph_id":"seq","assistant_id":")" + assistant +
                R"(","m":1})");
  EXPECT_EQ(run["kwargs"]["config"]["configurable"]["run_id"], Value(started.run_id));
  EXPECT_EQ(run["kwargs"]["durability"], Value("async"));
  const Value after = server.thread(thread_id);
  EXPECT_EQ(after["status"], Value("idle"));
  EXPECT_EQ(to_json(after["values"]), R"({"value":"aabc","log":["a","b","c"]})");
  EXPECT_EQ(to_json(after["interrupts"]), "{}");
  EXPECT_TRUE(after.contains("error"));
}

TEST(Runs, CheckpointsCarryTheRunsMetadata) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const StartedRun started = server.create(thread_id, seq("a"));
  server.join(thread_id, started.run_id);
  const Value metadata = server.state(thread_id)["metadata"];
  EXPECT_EQ(metadata["run_id"], Value(started.run_id));
  EXPECT_EQ(metadata["thread_id"], Value(thread_id));
  EXPECT_EQ(metadata["graph_id"], Value("seq"));
  EXPECT_EQ(metadata["user_id"], Value(""));
  EXPECT_EQ(metadata["run_attempt"], Value(1));
  EXPECT_EQ(metadata["source"], Value("loop"));
}

TEST(Runs, AFailureIsAResult) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  EXPECT_EQ(to_json(server.wait(thread_id, parse_json(R"({"assistant_id": "fail",
                                                         "input": {"value": "v"}})"))),
            R"({"__error__":{"error":"ValueError","message":"boom at maybe_boom"}})");
  const Value thread = server.thread(thread_id);
  EXPECT_EQ(thread["status"], Value("error"));
  EXPECT_EQ(to_json(thread["error"]), R"({"error":"ValueError","message":"boom at maybe_boom"})");
  EXPECT_EQ(server.statuses(thread_id), "error");
}

TEST(Runs, NoInputOnAFreshThreadIsAnError) {
  TestServer server;
  const Value result = server.wait(server.thread_id(), object({{"assistant_id", "seq"}}));
  EXPECT_EQ(result["__error__"]["error"], Value("EmptyInputError"));
}

TEST(Runs, StatelessThreadsGoWithTheirRun) {
  TestServer server;
  const StartedRun started = server.server->runs.create_stateless(server.caller, seq("s"));
  Promised<Value> result;
  started.end->then(result.setter());
  EXPECT_EQ(to_json(result.get()), R"({"value":"sabc","log":["a","b","c"]})");
  EXPECT_EQ(status_of([&] { server.thread(started.thread_id); }), 404);
  EXPECT_EQ(started.run["kwargs"]["temporary"], Value(true));
  EXPECT_EQ(to_json(started.run["metadata"]),
            R"({"created_by":"system","assistant_id":"7a62baa5-c934-5e7a-bf14-83aef6ffc143"})");
}

TEST(Runs, AStatelessRunCanBeJoinedAfterItsEnd) {
  TestServer server;
  RunService& runs = server.server->runs;
  server.caller.owner = object({{"owner", "ada"}});
  const Value run = runs.create_batch(server.caller, list({seq("s")}))[0];
  const std::string thread_id(run["thread_id"].as_string());
  const std::string run_id(run["run_id"].as_string());
  while (status_of([&] { server.thread(thread_id); }) != 404) {
  }
  EXPECT_EQ(to_json(server.join(thread_id, run_id)), R"({"value":"sabc","log":["a","b","c"]})");
  EXPECT_EQ(read_all(*runs.stream(server.caller, thread_id, run_id, {}, "-1", nullptr)).size(), 5U);
  EXPECT_EQ(status_of([&] { server.join(run_id, run_id); }), 404);

  Caller stranger = server.caller;
  stranger.owner = object({{"owner", "bob"}});
  EXPECT_EQ(status_of([&] { runs.join(stranger, thread_id, run_id, {}); }), 404);
  EXPECT_EQ(status_of([&] { runs.stream(stranger, thread_id, run_id, {}, "", nullptr); }), 404);
}

TEST(Runs, StatelessThreadsCanBeKept) {
  TestServer server;
  const StartedRun started =
      server.server->runs.create_stateless(server.caller, seq("s").set("on_completion", "keep"));
  server.join(started.thread_id, started.run_id);
  EXPECT_EQ(to_json(server.thread(started.thread_id)["values"]),
            R"({"value":"sabc","log":["a","b","c"]})");
}

TEST(Runs, ASlowReaderOfAStatelessRunMissesNothing) {
  TestServer server;
  const StartedRun started = server.server->runs.create_stateless(server.caller, seq("s"));
  Promised<Value> result;
  started.end->then(result.setter());
  result.get();
  while (status_of([&] { server.thread(started.thread_id); }) != 404) {
  }
  EXPECT_EQ(read_all(*started.events).size(), 5U);
}

TEST(Runs, ContextOrConfigurableFeedsTheOther) {
  TestServer server;
  const Value body = parse_json(R"({"assistant_id": "ctx", "input": {"text": "hi"}})");
  const Value context = object({{"tone", "warm"}, {"dropped", 1}});
  const Value config = object({{"configurable", object({{"tone", "cold"}})}});
  EXPECT_EQ(server.wait_stateless(body.set("context", context))["text"], Value("warm:hi"));
  EXPECT_EQ(server.wait_stateless(body.set("config", config))["text"], Value("cold:hi"));
  EXPECT_EQ(server.wait_stateless(body)["text"], Value("plain:hi"));
  EXPECT_EQ(
      status_of([&] { server.wait_stateless(body.set("context", context).set("config", config)); }),
      400);
}

TEST(Runs, TheAssistantsContextIsBeneath) {
  TestServer server;
  const Value assistant = server.server->assistants.create(
      server.caller, object({{"graph_id", "ctx"}, {"context", object({{"tone", "loud"}})}}));
  const Value body =
      object({{"assistant_id", assistant["assistant_id"]}, {"input", object({{"text", "hi"}})}});
  EXPECT_EQ(server.wait_stateless(body)["text"], Value("loud:hi"));
  EXPECT_EQ(server.wait_stateless(body.set("context", object({{"tone", "low"}})))["text"],
            Value("low:hi"));
}

TEST(Runs, ThreadsAreMadeIfAskedFor) {
  TestServer server;
  const std::string id = "0190a5a0-0000-7000-8000-000000000001";
  EXPECT_EQ(status_of([&] { server.create(id, seq("x")); }), 404);
  server.wait(id, seq("x").set("if_not_exists", "create").set("metadata", object({{"m", "l"}})));
  const Value metadata = server.thread(id)["metadata"];
  EXPECT_EQ(metadata["m"], Value("l"));
  EXPECT_EQ(metadata["graph_id"], Value("seq"));
}

TEST(Runs, ExitDurabilityLeavesOneCheckpoint) {
  TestServer server;
  const auto checkpoints = [&](const Value& body) {
    const std::string thread_id = server.thread_id();
    server.wait(thread_id, body);
    return server.server->threads.history(server.caller, thread_id, object({{"limit", 10}})).size();
  };
  EXPECT_EQ(checkpoints(seq("d")), 5U);
  EXPECT_EQ(checkpoints(seq("d").set("durability", "sync")), 5U);
  EXPECT_EQ(checkpoints(seq("d").set("durability", "exit")), 1U);
  EXPECT_EQ(checkpoints(seq("d").set("checkpoint_during", false)), 1U);
}

TEST(Runs, DelayedRunsStayPending) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const StartedRun delayed = server.create(thread_id, seq("late").set("after_seconds", 1));
  EXPECT_EQ(server.run(thread_id, delayed.run_id)["status"], Value("pending"));
  EXPECT_EQ(server.thread(thread_id)["status"], Value("busy"));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(server.join(thread_id, delayed.run_id)["value"], Value("lateabc"));
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(700));
}

TEST(Runs, StopBeforeAndAfterNodes) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const Value go_on = object({{"assistant_id", "seq"}});
  EXPECT_EQ(to_json(server.wait(thread_id, seq("i").set("interrupt_before", list({"b"})))),
            R"({"value":"ia","log":["a"]})");
  EXPECT_EQ(server.thread(thread_id)["status"], Value("interrupted"));
  EXPECT_EQ(server.statuses(thread_id), "success");
  EXPECT_EQ(to_json(server.wait(thread_id, go_on.set("interrupt_after", "*"))),
            R"({"value":"iab","log":["a","b"]})");
  EXPECT_EQ(to_json(server.wait(thread_id, go_on)), R"({"value":"iabc","log":["a","b","c"]})");
  EXPECT_EQ(server.thread(thread_id)["status"], Value("idle"));
}

TEST(Runs, CommandsUpdateAndGo) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  server.wait(thread_id, seq("s"));
  EXPECT_EQ(to_json(server.wait(thread_id, parse_json(R"({"assistant_id": "seq",
                                          "command": {"update": {"value": "jump"}, "goto": "c"}})"))),
            R"({"value":"jumpc","log":["a","b","c","c"]})");
}

TEST(Runs, RunsStartFromOlderCheckpoints) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  server.wait(thread_id, seq("x"));
  const Value history =
      server.server->threads.history(server.caller, thread_id, object({{"limit", 10}}));
  const Value body =
      object({{"assistant_id", "seq"}, {"checkpoint_id", history[2]["checkpoint_id"]}});
  EXPECT_EQ(server.wait(thread_id, body)["value"], Value("xabc"));
  EXPECT_EQ(status_of([&] { server.create(thread_id, body.set("checkpoint_id", "zz")); }), 422);
}

TEST(Runs, DeletingARunDeletesItsCheckpoints) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const StartedRun started = server.create(thread_id, seq("x"));
  server.join(thread_id, started.run_id);
  server.server->runs.remove(server.caller, thread_id, started.run_id);
  EXPECT_EQ(status_of([&] { server.run(thread_id, started.run_id); }), 404);
  EXPECT_EQ(to_json(server.state(thread_id)["values"]), "{}");
  EXPECT_TRUE(server.thread(thread_id)["values"].is_null());
}

TEST(Runs, BatchesAreRuns) {
  TestServer server;
  const Value runs = server.server->runs.create_batch(server.caller, list({seq("1"), seq("2")}));
  EXPECT_EQ(runs.size(), 2U);
  EXPECT_EQ(status_of([&] { server.server->runs.create_batch(server.caller, list({object()})); }),
            422);
}

TEST(Runs, WebhooksAreToldAndToldAgain) {
  ServiceOptions options;
  options.webhooks.require_https = false;
  options.webhooks.retry_delay = std::chrono::milliseconds(1);
  TestServer server(options);
  server.webhooks->refusals = 1;
  const std::string thread_id = server.thread_id();
  server.wait(thread_id, seq("w").set("webhook", "http://hook.example/h?tok=1"));
  const auto [url, body] = server.webhooks->wait_for(2);
  EXPECT_EQ(url, "http://hook.example/h?tok=1");
  EXPECT_EQ(body["status"], Value("success"));
  EXPECT_EQ(to_json(body["values"]), R"({"value":"wabc","log":["a","b","c"]})");
  EXPECT_TRUE(body["run_started_at"].is_string());
}

TEST(Runs, AWebhookThatIsNeverTakenIsGivenUp) {
  ServiceOptions options;
  options.webhooks.retry_delay = std::chrono::milliseconds(1);
  TestServer server(options);
  server.webhooks->refusals = 3;
  const std::string thread_id = server.thread_id();
  server.wait(thread_id, seq("w").set("webhook", "https://hook.example/1"));
  EXPECT_EQ(server.webhooks->wait_for(3).first, "https://hook.example/1");
  server.wait(thread_id, seq("x").set("webhook", "https://hook.example/2"));
  EXPECT_EQ(server.webhooks->wait_for(4).first, "https://hook.example/2");
}

TEST(Runs, HeadersThatAreNoTextAreNotPassedOn) {
  HttpConfig config;
  config.configurable_headers = {"x-*"};
  const Headers headers{{"X-Name", "Zo\xC3\xAB"}, {"X-Other", "Zo\xEB"}, {"x-api-key", "secret"}};
  EXPECT_EQ(to_json(passed_headers(config, headers)), "{\"x-name\":\"Zo\xC3\xAB\"}");
}

TEST(Runs, WrongRequestsAreRefused) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const auto status = [&](const char* json) {
    return status_of([&] { server.create(thread_id, parse_json(json)); });
  };
  EXPECT_EQ(status("[1]"), 422);
  EXPECT_EQ(status("{}"), 422);
  EXPECT_EQ(status(R"({"assistant_id": "nope"})"), 422);
  EXPECT_EQ(status(R"({"assistant_id": "0190a5a0-0000-7000-8000-000000000001"})"), 404);
  EXPECT_EQ(status(R"({"assistant_id": "seq", "stream_mode": "bogus"})"), 422);
  EXPECT_EQ(status(R"({"assistant_id": "seq", "stream_mode": ["tools"]})"), 422);
  EXPECT_EQ(status(R"({"assistant_id": "seq", "multitask_strategy": "x"})"), 422);
  EXPECT_EQ(status(R"({"assistant_id": "seq", "durability": "x"})"), 422);
  EXPECT_EQ(status(R"({"assistant_id": "seq", "webhook": "ftp://x"})"), 422);
  EXPECT_EQ(status(R"({"assistant_id": "seq", "webhook": "https://127.0.0.1/"})"), 422);
  EXPECT_EQ(status(R"({"assistant_id": "seq", "config": {"recursion_limit": 0}})"), 422);
  EXPECT_EQ(status(R"({"assistant_id": "seq", "command": {"goto": 1}})"), 422);
  EXPECT_EQ(status(R"({"assistant_id": "seq", "after_seconds": -1})"), 422);
  EXPECT_EQ(status_of([&] {
              server.wait_stateless(
                  parse_json(R"({"assistant_id": "approval", "command": {"resume": 1}})"));
            }),
            400);
  EXPECT_EQ(server.statuses(thread_id), "");
}

TEST(Runs, ABodyCannotReachAnotherThread) {
  TestServer server;
  const std::string other = server.thread_id();
  const std::string thread_id = server.thread_id();
  server.wait(thread_id,
              seq("x")
                  .set("config",
                       object({{"configurable", object({{"thread_id", other}, {"run_id", "r"}})}}))
                  .set("checkpoint", object({{"thread_id", other}})));
  EXPECT_EQ(to_json(server.state(other)["values"]), "{}");
  EXPECT_EQ(server.state(thread_id)["values"]["value"], Value("xabc"));
}

// Several runs on a thread --------------------------------------------------------

TEST(Multitask, OneAtATimeInOrder) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  server.create(thread_id, slow(4, 0.05));
  const StartedRun second = server.create(thread_id, slow(1, 0.01));
  EXPECT_EQ(refusal([&] {
              server.create(thread_id, seq("x").set("multitask_strategy", "reject"));
            }).substr(0, 3),
            "409");
  EXPECT_EQ(to_json(server.join(thread_id, second.run_id)["done"]),
            R"(["work:4","end","work:1","end"])");
  EXPECT_EQ(server.statuses(thread_id), "success success");
}

TEST(Multitask, InterruptKeepsWhatWasDone) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  server.wait(thread_id, slow(1, 0.01));
  const StartedRun old_run = server.create(thread_id, slow(300, 0.1));
  read_some(*old_run.events, 2);
  const StartedRun waiting = server.create(thread_id, slow(1, 0.1));
  const Value result = server.wait(thread_id, slow(2, 0.01).set("multitask_strategy", "interrupt"));
  EXPECT_EQ(to_json(result["done"]), R"(["work:1","end","work:2","end"])");
  EXPECT_EQ(server.statuses(thread_id), "success interrupted interrupted success");
  EXPECT_EQ(server.thread(thread_id)["status"], Value("idle"));
}

TEST(Multitask, RollbackForgetsTheOldRun) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  server.wait(thread_id, slow(1, 0.01));
  const StartedRun old_run = server.create(thread_id, slow(300, 0.1));
  read_some(*old_run.events, 2);
  const Value result = server.wait(thread_id, slow(2, 0.01).set("multitask_strategy", "rollback"));
  EXPECT_EQ(to_json(result["done"]), R"(["work:1","end","work:2","end"])");
  EXPECT_EQ(status_of([&] { server.run(thread_id, old_run.run_id); }), 404);
  EXPECT_EQ(server.statuses(thread_id), "success success");
  const Value history =
      server.server->threads.history(server.caller, thread_id, object({{"limit", 50}}));
  for (const Value& state : history) {
    EXPECT_NE(state["metadata"]["run_id"], Value(old_run.run_id));
  }
}

TEST(Multitask, DifferentThreadsRunAtOnce) {
  TestServer server;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<StartedRun> runs;
  for (int i = 0; i < 20; ++i) runs.push_back(server.create(server.thread_id(), slow(2, 0.1)));
  for (const StartedRun& run : runs) server.join(run.thread_id, run.run_id);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST(Multitask, WorkersAreALimit) {
  ServiceOptions options;
  options.workers = 2;
  TestServer server(options);
  std::vector<StartedRun> runs;
  for (int i = 0; i < 6; ++i) runs.push_back(server.create(server.thread_id(), slow(1, 0.1)));
  EXPECT_LE(server.server->queue.counts().running, 2U);
  for (const StartedRun& run : runs) server.join(run.thread_id, run.run_id);
}

// Cancelling ----------------------------------------------------------------------

Value cancelled(TestServer& server, const StartedRun& run, CancelAction action) {
  Promised<Value> result;
  CancelRequest request;
  request.action = action;
  server.server->runs.cancel(server.caller, run.thread_id, run.run_id, request, result.setter());
  return result.get();
}

TEST(Cancel, ARunningRunStopsAtOnce) {
  TestServer server;
  const StartedRun run = server.create(server.thread_id(), slow(1, 60));
  read_some(*run.events, 2);
  const auto begin = std::chrono::steady_clock::now();
  cancelled(server, run, CancelAction::interrupt);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(server.run(run.thread_id, run.run_id)["status"], Value("interrupted"));
  const Value thread = server.thread(run.thread_id);
  EXPECT_EQ(thread["status"], Value("interrupted"));
  EXPECT_EQ(thread["error"]["error"], Value("UserInterrupt"));
  EXPECT_EQ(to_json(server.state(run.thread_id)["next"]), R"(["work"])");
  EXPECT_EQ(status_of([&] { cancelled(server, run, CancelAction::interrupt); }), 404);
  server.server->threads.update_state(server.caller, run.thread_id,
                                      parse_json(R"({"values": {"delay": 0.01}})"));
}

TEST(Cancel, RollbackLeavesNothing) {
  TestServer server;
  const StartedRun run = server.create(server.thread_id(), slow(1, 60));
  read_some(*run.events, 2);
  cancelled(server, run, CancelAction::rollback);
  EXPECT_EQ(status_of([&] { server.run(run.thread_id, run.run_id); }), 404);
  const Value thread = server.thread(run.thread_id);
  EXPECT_EQ(thread["status"], Value("idle"));
  EXPECT_EQ(thread["error"]["error"], Value("UserRollback"));
  EXPECT_TRUE(thread["values"].is_null());
  EXPECT_FALSE(thread.contains("interrupts"));
}

TEST(Cancel, PendingRuns) {
  TestServer server;
  const StartedRun first =
      server.create(server.thread_id(), slow(1, 0.01).set("after_seconds", 60));
  cancelled(server, first, CancelAction::interrupt);
  EXPECT_EQ(server.run(first.thread_id, first.run_id)["status"], Value("interrupted"));
  EXPECT_EQ(server.thread(first.thread_id)["status"], Value("idle"));
  EXPECT_TRUE(read_all(*first.events).empty());
  const StartedRun second =
      server.create(server.thread_id(), slow(1, 0.01).set("after_seconds", 60));
  cancelled(server, second, CancelAction::rollback);
  EXPECT_EQ(status_of([&] { server.run(second.thread_id, second.run_id); }), 404);
}

TEST(Cancel, ManyAtOnce) {
  TestServer server;
  const Value body = slow(1, 0.01).set("after_seconds", 60);
  const std::string thread_id = server.thread_id();
  const StartedRun first = server.create(thread_id, body);
  const StartedRun second = server.create(thread_id, body);
  RunService& runs = server.server->runs;
  runs.cancel_many(server.caller,
                   object({{"thread_id", thread_id}, {"run_ids", list({first.run_id})}}),
                   CancelAction::interrupt);
  EXPECT_EQ(server.statuses(thread_id), "pending interrupted");
  runs.cancel_many(server.caller, object({{"status", "pending"}}), CancelAction::interrupt);
  EXPECT_EQ(server.statuses(thread_id), "interrupted interrupted");
  EXPECT_EQ(status_of([&] {
              runs.cancel_many(server.caller, object({{"status", "all"}}), CancelAction::interrupt);
            }),
            404);
  EXPECT_EQ(status_of([&] { runs.cancel_many(server.caller, object(), CancelAction::interrupt); }),
            422);
}

TEST(Cancel, AClientThatLeaves) {
  TestServer server;
  const StartedRun run =
      server.create(server.thread_id(), slow(1, 60).set("on_disconnect", "cancel"));
  EXPECT_TRUE(run.cancels_on_disconnect);
  read_some(*run.events, 2);
  server.server->runs.disconnect(run.thread_id, run.run_id);
  server.join(run.thread_id, run.run_id);
  EXPECT_EQ(server.thread(run.thread_id)["error"]["message"],
            Value("client disconnected from the run stream (on_disconnect=cancel)"));
}

TEST(Cancel, DeletingAThreadEndsItsRuns) {
  TestServer server;
  const StartedRun run = server.create(server.thread_id(), slow(1, 60));
  read_some(*run.events, 2);
  server.server->threads.remove(server.caller, run.thread_id);
  read_all(*run.events);
  EXPECT_EQ(status_of([&] { server.thread(run.thread_id); }), 404);
}

TEST(Cancel, WhoWaitsForARunOfADeletedThreadIsTold) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const StartedRun running = server.create(thread_id, slow(1, 60));
  const StartedRun pending = server.create(thread_id, slow(1, 60));
  Promised<Value> running_end;
  Promised<Value> pending_end;
  Promised<RunService::Joined> joined;
  running.end->then(running_end.setter());
  pending.end->then(pending_end.setter());
  server.server->runs.join(server.caller, thread_id, running.run_id, joined.setter());
  server.server->threads.remove(server.caller, thread_id);
  EXPECT_EQ(running_end.get(), object());
  EXPECT_EQ(pending_end.get(), object());
  EXPECT_EQ(joined.get()(), object());
}

// Questions -----------------------------------------------------------------------

TEST(Questions, AnInterruptIsASuccessAndIsAnswered) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const Value asked =
      server.wait(thread_id, parse_json(R"({"assistant_id": "approval", "input": {"text": "a"}})"));
  EXPECT_EQ(to_json(asked.erase("__interrupt__")), R"({"text":"A","log":["draft"]})");
  EXPECT_EQ(to_json(asked["__interrupt__"][0]["value"]), R"({"question":"approve A?"})");
  EXPECT_TRUE(asked["__interrupt__"][0].contains("response_schema"));
  const Value thread = server.thread(thread_id);
  EXPECT_EQ(thread["status"], Value("interrupted"));
  EXPECT_EQ(thread["interrupts"].size(), 1U);
  EXPECT_EQ(server.statuses(thread_id), "success");
  const Value answer =
      parse_json(R"({"assistant_id": "approval", "command": {"resume": {"b": 1}}})");
  EXPECT_EQ(to_json(server.wait(thread_id, answer)),
            R"({"text":"A:{\"b\":1}","answer":"{\"b\":1}","log":["draft","ask","finish"]})");
}

TEST(Questions, JoinGivesThemAlone) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const StartedRun run = server.create(
      thread_id, parse_json(R"({"assistant_id": "approval", "input": {"text": "j"}})"));
  const Value joined = server.join(thread_id, run.run_id);
  EXPECT_EQ(joined.size(), 1U);
  EXPECT_EQ(to_json(joined["__interrupt__"][0]["value"]), R"({"question":"approve J?"})");
}

TEST(Questions, SeveralAreAnsweredById) {
  TestServer server;
  const std::string thread_id = server.thread_id();
  const Value asked =
      server.wait(thread_id, parse_json(R"({"assistant_id": "two_asks", "input": {}})"));
  ASSERT_EQ(asked["__interrupt__"].size(), 2U);
  EXPECT_EQ(asked.size(), 1U);
  const auto answer = [&](int i, const char* text) {
    const std::string id = asked["__interrupt__"][i]["id"].get<std::string>();
    return object(
        {{"assistant_id", "two_asks"}, {"command", object({{"resume", object({{id, text}})}})}});
  };
  const Value left = server.wait(thread_id, answer(0, "L"));
  EXPECT_EQ(to_json(left["got"]), "[]");
  EXPECT_EQ(left["__interrupt__"].size(), 1U);
  EXPECT_EQ(to_json(server.wait(thread_id, answer(1, "R"))), R"({"got":["left=L","right=R"]})");
}

}  // namespace
}  // namespace clew::server
