// What one caller has is not there for another.
#include <clew/json.hpp>

#include "test_server.hpp"

namespace clew::server {
namespace {

Caller caller_named(const std::string& name) {
  Caller caller;
  caller.identity = name;
  caller.user = object({{"identity", name}});
  caller.owner = caller.assistant_owner = object({{"owner", name}});
  caller.store_root = name;
  return caller;
}

const Value kSeq = object({{"assistant_id", "seq"}, {"input", object({{"value", "x"}})}});

TEST(Owner, StrangersSeeNothing) {
  TestServer server;
  const Caller alice = caller_named("alice");
  const Caller bob = caller_named("bob");
  AgentServer& agent = *server.server;
  const Value thread =
      agent.threads.create(alice, parse_json(R"({"metadata": {"a": 1, "owner": "bob"}})"));
  EXPECT_EQ(to_json(thread["metadata"]), R"({"a":1,"owner":"alice"})");
  const std::string id = thread["thread_id"].get<std::string>();
  const StartedRun run =
      agent.runs.create(alice, id, kSeq.set("metadata", object({{"owner", "bob"}})));
  EXPECT_EQ(run.run["metadata"]["owner"], Value("alice"));
  EXPECT_EQ(run.run["kwargs"]["config"]["configurable"]["langgraph_auth_user_id"], Value("alice"));
  Promised<RunService::Joined> joined;
  agent.runs.join(alice, id, run.run_id, joined.setter());
  EXPECT_EQ(joined.get()()["value"], Value("xabc"));

  const auto status = [&](const auto& call) { return status_of(call); };
  EXPECT_EQ(status([&] { agent.threads.get(bob, id, false); }), 404);
  EXPECT_EQ(status([&] { agent.threads.state(bob, id, "", false); }), 404);
  EXPECT_EQ(status([&] { agent.threads.history(bob, id, object()); }), 404);
  EXPECT_EQ(status([&] { agent.threads.patch(bob, id, object()); }), 404);
  EXPECT_EQ(status([&] { agent.threads.update_state(bob, id, object()); }), 404);
  EXPECT_EQ(status([&] { agent.threads.remove(bob, id); }), 404);
  EXPECT_EQ(status([&] { agent.threads.copy(bob, id); }), 409);
  EXPECT_EQ(status([&] { agent.threads.storage(bob, id); }), 404);
  EXPECT_EQ(status([&] { agent.threads.stream(bob, id, {}, ""); }), 404);
  EXPECT_EQ(status([&] { agent.runs.create(bob, id, kSeq); }), 404);
  EXPECT_EQ(status([&] { agent.runs.create(bob, id, kSeq.set("if_not_exists", "create")); }), 404);
  EXPECT_EQ(status([&] { agent.runs.list(bob, id, {}, {}); }), 404);
  EXPECT_EQ(status([&] { agent.runs.get(bob, id, run.run_id); }), 404);
  EXPECT_EQ(status([&] { agent.runs.join(bob, id, run.run_id, [](const auto&) {}); }), 404);
  EXPECT_EQ(status([&] { agent.runs.stream(bob, id, run.run_id, {}, "", nullptr); }), 404);
  EXPECT_EQ(status([&] { agent.runs.cancel(bob, id, run.run_id, {}, {}); }), 404);
  EXPECT_EQ(status([&] { agent.runs.remove(bob, id, run.run_id); }), 404);
  EXPECT_EQ(status([&] { agent.threads.create(bob, object({{"thread_id", id}})); }), 409);
  EXPECT_EQ(status([&] {
              agent.threads.create(bob, object({{"thread_id", id}, {"if_exists", "do_nothing"}}));
            }),
            409);
  EXPECT_EQ(agent.threads.count(bob, object()), 0U);
  EXPECT_EQ(agent.threads.count(bob, parse_json(R"({"metadata": {"owner": "alice"}})")), 0U);
  EXPECT_EQ(agent.threads.search(bob, object({{"ids", list({id})}})).rows.size(), 0U);
  EXPECT_EQ(to_json(agent.threads.prune(bob, object({{"thread_ids", list({id})}}))),
            R"({"pruned_count":0})");
  EXPECT_EQ(
      agent.protocol.command(bob, id,
                             object({{"id", 1},
                                     {"method", "run.start"},
                                     {"params", object({{"assistant_id", "seq"}})}}))["message"],
      Value("404: Thread or assistant not found."));
  EXPECT_EQ(status([&] {
              agent.protocol.stream(bob, id,
                                    ProtocolFilter::of(parse_json(R"({"channels": ["values"]})")));
            }),
            404);
  EXPECT_EQ(agent.threads.count(alice, object()), 1U);
}

TEST(Owner, CancelManyReachesOnlyOnesOwn) {
  TestServer server;
  const Caller alice = caller_named("alice");
  const Caller bob = caller_named("bob");
  AgentServer& agent = *server.server;
  const std::string id = agent.threads.create(alice, {})["thread_id"].get<std::string>();
  const StartedRun run = agent.runs.create(alice, id, kSeq.set("after_seconds", 60));
  EXPECT_EQ(status_of([&] {
              agent.runs.cancel_many(bob, object({{"status", "all"}}), CancelAction::interrupt);
            }),
            404);
  EXPECT_EQ(agent.runs.get(alice, id, run.run_id)["status"], Value("pending"));
}

TEST(Owner, AssistantsAndCrons) {
  TestServer server;
  const Caller alice = caller_named("alice");
  const Caller bob = caller_named("bob");
  AgentServer& agent = *server.server;
  const std::string id =
      agent.assistants.create(alice, object({{"graph_id", "seq"}}))["assistant_id"]
          .get<std::string>();
  EXPECT_EQ(status_of([&] { agent.assistants.get(bob, id); }), 404);
  EXPECT_EQ(status_of([&] { agent.assistants.patch(bob, id, object({{"name", "x"}})); }), 404);
  EXPECT_EQ(status_of([&] { agent.runs.create_stateless(bob, kSeq.set("assistant_id", id)); }),
            404);
  EXPECT_EQ(agent.assistants.count(bob, object()) + 1, agent.assistants.count(alice, object()));
  const Value cron = agent.crons.create(
      alice, "", parse_json(R"({"assistant_id": "seq", "schedule": "0 3 * * *", "input": {}})"));
  const std::string cron_id = cron["cron_id"].get<std::string>();
  EXPECT_EQ(status_of([&] { agent.crons.get(bob, cron_id); }), 404);
  EXPECT_EQ(status_of([&] { agent.crons.patch(bob, cron_id, object({{"enabled", false}})); }), 404);
  EXPECT_EQ(status_of([&] { agent.crons.remove(bob, cron_id); }), 404);
  EXPECT_EQ(agent.crons.count(bob, object()), 0U);
  EXPECT_EQ(agent.crons.count(alice, object()), 1U);
}

TEST(Owner, AssistantsOfTheSystemAreEverybodys) {
  TestServer server;
  const Caller bob = caller_named("bob");
  AssistantService& assistants = server.server->assistants;
  const std::string id = system_assistant_id("seq");
  EXPECT_EQ(assistants.get(bob, id)["name"], Value("seq"));
  EXPECT_EQ(refusal([&] { assistants.patch(bob, id, object({{"graph_id", "echo"}})); }),
            "403 The assistant of a graph cannot be changed");
  EXPECT_EQ(refusal([&] { assistants.set_latest(bob, id, object({{"version", 1}})); }),
            "403 The assistant of a graph cannot be changed");
}

TEST(Owner, SharedAssistantsHaveNone) {
  TestServer server;
  Caller alice = caller_named("alice");
  Caller bob = caller_named("bob");
  alice.assistant_owner = bob.assistant_owner = {};
  AgentServer& agent = *server.server;
  const Value made = agent.assistants.create(alice, object({{"graph_id", "seq"}}));
  EXPECT_EQ(to_json(made["metadata"]), "{}");
  const std::string id = made["assistant_id"].get<std::string>();
  EXPECT_EQ(agent.assistants.patch(bob, id, object({{"name", "ours"}}))["name"], Value("ours"));
  EXPECT_EQ(agent.assistants.count(bob, object()), agent.assistants.count(alice, object()));
  const StartedRun run = agent.runs.create_stateless(bob, kSeq.set("assistant_id", id));
  EXPECT_EQ(run.run["metadata"]["owner"], Value("bob"));
}

TEST(Owner, RunsOfACronAreItsMakers) {
  ServiceOptions options;
  options.caller_of = caller_named;
  TestServer server(options);
  const Caller alice = caller_named("alice");
  AgentServer& agent = *server.server;
  const std::string id = agent.threads.create(alice, {})["thread_id"].get<std::string>();
  agent.crons.create(
      alice, id, parse_json(R"({"assistant_id": "seq", "schedule": "* * * * *", "input": {}})"));
  const auto now = std::chrono::floor<Time::duration>(std::chrono::system_clock::now());
  EXPECT_EQ(agent.crons.fire_due(now + std::chrono::minutes(2)), 1U);
  const Value runs = agent.runs.list(alice, id, {}, {});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0]["metadata"]["owner"], Value("alice"));
  EXPECT_EQ(runs[0]["kwargs"]["config"]["configurable"]["langgraph_auth_user"]["identity"],
            Value("alice"));
}

TEST(Owner, StoreNamespacesBeginWithTheIdentity) {
  TestServer server;
  const Caller alice = caller_named("alice");
  const Caller bob = caller_named("bob");
  StoreService& store = server.server->store;
  store.put(alice, parse_json(R"({"namespace": ["alice", "x"], "key": "k", "value": {"v": 1}})"));
  const Value ns = list({"alice", "x"});
  EXPECT_EQ(store.get(alice, "k", ns, {})["value"]["v"], Value(1));
  EXPECT_EQ(status_of([&] { store.get(bob, "k", ns, {}); }), 403);
  EXPECT_EQ(status_of([&] {
              store.put(bob, parse_json(R"({"namespace": ["alice"], "key": "k", "value": {}})"));
            }),
            403);
  EXPECT_EQ(status_of([&] { store.remove(bob, object({{"namespace", ns}, {"key", "k"}})); }), 403);
  EXPECT_EQ(status_of([&] { store.search(bob, object({{"namespace_prefix", list()}})); }), 403);
  EXPECT_EQ(status_of([&] { store.namespaces(bob, object({{"prefix", list({"alice"})}})); }), 403);
  EXPECT_EQ(to_json(store.namespaces(bob, object())), R"({"namespaces":[]})");
  EXPECT_EQ(to_json(store.namespaces(alice, object())), R"({"namespaces":[["alice","x"]]})");
}

TEST(Store, ItemsAsTheApiHasThem) {
  TestServer server;
  StoreService& store = server.server->store;
  const Caller& caller = server.caller;
  store.put(caller, parse_json(R"({"namespace": ["docs", "a"], "key": "k1", "value": {"n": 1}})"));
  store.put(caller, parse_json(R"({"namespace": ["docs", "b"], "key": "k2", "value": {"n": 2},
                                   "index": false})"));
  const Value found = store.search(caller, parse_json(R"({"namespace_prefix": ["docs"],
                                                          "filter": {"n": {"$gte": 2}}})"));
  ASSERT_EQ(found["items"].size(), 1U);
  EXPECT_TRUE(found["items"][0].contains("score"));
  EXPECT_EQ(found["items"][0]["key"], Value("k2"));
  EXPECT_TRUE(store.get(caller, "zz", list({"docs", "a"}), {}).is_null());
  EXPECT_EQ(status_of([&] { store.get(caller, std::nullopt, list({"docs"}), {}); }), 400);
  const auto put = [&](const char* json) {
    return status_of([&] { store.put(caller, parse_json(json)); });
  };
  EXPECT_EQ(put(R"({"namespace": [], "key": "k", "value": {}})"), 400);
  EXPECT_EQ(put(R"({"namespace": ["a.b"], "key": "k", "value": {}})"), 422);
  EXPECT_EQ(put(R"({"namespace": ["langgraph"], "key": "k", "value": {}})"), 400);
  EXPECT_EQ(put(R"({"namespace": ["x"], "key": "k"})"), 422);
  EXPECT_EQ(put(R"({"namespace": ["x"], "key": "k", "value": "str"})"), 422);
  store.remove(caller, parse_json(R"({"namespace": ["docs", "a"], "key": "k1"})"));
  store.remove(caller, parse_json(R"({"namespace": ["docs", "a"], "key": "k1"})"));
  EXPECT_EQ(to_json(store.namespaces(caller, parse_json(R"({"prefix": ["docs"]})"))),
            R"({"namespaces":[["docs","b"]]})");
}

}  // namespace
}  // namespace clew::server
