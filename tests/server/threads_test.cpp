#include <clew/json.hpp>

#include "test_server.hpp"

namespace clew::server {
namespace {

Value seq(const std::string& value) {
  return object({{"assistant_id", "seq"}, {"input", object({{"value", value}})}});
}

TEST(Threads, ANewThread) {
  TestServer server;
  const Value thread =
      server.create_thread(parse_json(R"({"metadata": {"owner": "ann", "n": 1}})"));
  EXPECT_EQ(thread["status"], Value("idle"));
  EXPECT_EQ(to_json(thread["metadata"]), R"({"owner":"ann","n":1})");
  EXPECT_EQ(to_json(thread["config"]), "{}");
  EXPECT_TRUE(thread["values"].is_null());
  EXPECT_FALSE(thread.contains("error"));
  const std::string id = thread["thread_id"].get<std::string>();
  EXPECT_EQ(id[14], '7');
  EXPECT_EQ(server.thread(id), thread);
}

TEST(Threads, GivenIds) {
  TestServer server;
  const Value body = parse_json(R"({"thread_id": "0190A5A0-0000-7000-8000-000000000001",
                                    "metadata": {"a": 1}})");
  EXPECT_EQ(server.create_thread(body)["thread_id"], Value("0190a5a0-0000-7000-8000-000000000001"));
  EXPECT_EQ(status_of([&] { server.create_thread(body); }), 409);
  const Value again =
      server.create_thread(body.set("if_exists", "do_nothing").set("metadata", object({{"b", 1}})));
  EXPECT_EQ(to_json(again["metadata"]), R"({"a":1})");
  EXPECT_EQ(status_of([&] { server.create_thread(object({{"thread_id", "abc"}})); }), 422);
  EXPECT_EQ(status_of([&] { server.thread("abc"); }), 422);
  EXPECT_EQ(status_of([&] { server.thread("0190a5a0-0000-7000-8000-000000000002"); }), 404);
}

TEST(Threads, PatchMergesMetadata) {
  TestServer server;
  const std::string id =
      server.create_thread(parse_json(R"({"metadata": {"a": 1, "n": 1}})"))["thread_id"]
          .get<std::string>();
  server.server->threads.patch(server.caller, id,
                               parse_json(R"({"metadata": {"n": 2, "m": "y"}})"));
  EXPECT_EQ(to_json(server.thread(id)["metadata"]), R"({"a":1,"n":2,"m":"y"})");
}

// The ids that a search finds, as numbers that the threads have in their metadata.
std::string found(TestServer& server, const char* json) {
  const Listing listing = server.server->threads.search(server.caller, parse_json(json));
  std::string text;
  for (const Value& thread : listing.rows) text += to_json(thread["metadata"]["i"]) + " ";
  text += "of " + std::to_string(listing.total);
  if (listing.next) text += " next " + std::to_string(*listing.next);
  return text;
}

TEST(ThreadSearch, MetadataStatusValuesAndPages) {
  TestServer server;
  for (int i = 0; i < 6; ++i) {
    const Value metadata = object({{"i", i},
                                   {"even", i % 2 == 0},
                                   {"deep", object({{"k", i % 3}})},
                                   {"tags", list({"t", i})}});
    const Value thread = server.create_thread(object({{"metadata", metadata}}));
    if (i == 3) server.wait(thread["thread_id"].get<std::string>(), seq("q"));
  }
  EXPECT_EQ(found(server, "{}"), "5 4 3 2 1 0 of 6");
  EXPECT_EQ(found(server, R"({"metadata": {"even": true}})"), "4 2 0 of 3");
  EXPECT_EQ(found(server, R"({"metadata": {"even": true, "i": 2}})"), "2 of 1");
  EXPECT_EQ(found(server, R"({"metadata": {"i": 2.0}})"), "2 of 1");
  EXPECT_EQ(found(server, R"({"metadata": {"deep": {"k": 1}}})"), "4 1 of 2");
  EXPECT_EQ(found(server, R"({"metadata": {"tags": [3]}})"), "3 of 1");
  EXPECT_EQ(found(server, R"({"metadata": {"nope": 1}})"), "of 0");
  EXPECT_EQ(found(server, R"({"values": {"value": "qabc"}})"), "3 of 1");
  EXPECT_EQ(found(server, R"({"values": {"log": ["b"]}, "metadata": {"even": false}})"), "3 of 1");
  EXPECT_EQ(found(server, R"({"status": "busy"})"), "of 0");
  EXPECT_EQ(found(server, R"({"status": "idle", "sort_order": "asc"})"), "0 1 2 3 4 5 of 6");
  EXPECT_EQ(found(server, R"({"sort_by": "updated_at"})"), "5 4 3 2 1 0 of 6");
  EXPECT_EQ(found(server, R"({"limit": 2})"), "5 4 of 3 next 2");
  EXPECT_EQ(found(server, R"({"limit": 2, "offset": 4})"), "1 0 of 6");
  EXPECT_EQ(found(server, R"({"metadata": {"even": false}, "limit": 1, "offset": 1})"),
            "3 of 3 next 2");
  EXPECT_EQ(
      server.server->threads.count(server.caller, parse_json(R"({"metadata": {"even": true}})")),
      3U);
  EXPECT_EQ(status_of([&] { found(server, R"({"status": "weird"})"); }), 422);
  EXPECT_EQ(status_of([&] { found(server, R"({"limit": 0})"); }), 422);
  EXPECT_EQ(status_of([&] { found(server, R"({"select": ["bogus"]})"); }), 422);
}

TEST(ThreadSearch, SelectAndExtract) {
  TestServer server;
  const std::string id = server.thread_id();
  server.wait(id, seq("q"));
  const Listing listing = server.server->threads.search(
      server.caller, object({{"ids", list({id})},
                             {"select", list({"thread_id"})},
                             {"extract", object({{"v", "values.value"},
                                                 {"last", "values.log[-1]"},
                                                 {"none", "values.log[7].x"}})}}));
  EXPECT_EQ(to_json(listing.rows),
            R"([{"thread_id":")" + id + R"(","extracted":{"v":"qabc","last":"c","none":null}}])");
  EXPECT_EQ(status_of([&] {
              server.server->threads.search(server.caller,
                                            object({{"extract", object({{"v", "values..x"}})}}));
            }),
            422);
}

TEST(ThreadSearch, ChangedMetadataIsFoundAnew) {
  TestServer server;
  const std::string id =
      server.create_thread(parse_json(R"({"metadata": {"i": 1}})"))["thread_id"].get<std::string>();
  server.server->threads.patch(server.caller, id, parse_json(R"({"metadata": {"i": 2}})"));
  EXPECT_EQ(found(server, R"({"metadata": {"i": 1}})"), "of 0");
  EXPECT_EQ(found(server, R"({"metadata": {"i": 2}})"), "2 of 1");
  server.server->threads.remove(server.caller, id);
  EXPECT_EQ(found(server, R"({"metadata": {"i": 2}})"), "of 0");
}

TEST(ThreadSearch, StaysQuickAsThreadsBecomeMany) {
  TestServer server;
  const auto time = [](const auto& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::steady_clock::now() - begin;
  };
  const auto parts = [&](int count) {
    for (int i = 0; i < count; ++i) {
      server.server->threads.create(server.caller,
                                    object({{"metadata", object({{"i", i}, {"same", 1}})}}));
    }
  };
  parts(300);
  const auto newest = time([&] { found(server, R"({"metadata": {"same": 1}, "limit": 3})"); });
  const auto one = time([&] { found(server, R"({"metadata": {"i": 7}})"); });
  EXPECT_LT(newest, std::chrono::milliseconds(20));
  EXPECT_LT(one, std::chrono::milliseconds(20));
}

TEST(Threads, CopiesShareTheHistory) {
  TestServer server;
  const std::string id = server.thread_id();
  server.wait(id, seq("q"));
  const Value copy = server.server->threads.copy(server.caller, id);
  const std::string copied = copy["thread_id"].get<std::string>();
  EXPECT_NE(copied, id);
  EXPECT_EQ(copy["values"], server.thread(id)["values"]);
  EXPECT_EQ(server.state(copied)["values"]["value"], Value("qabc"));
  EXPECT_EQ(server.server->threads.history(server.caller, copied, object({{"limit", 10}})).size(),
            5U);
  EXPECT_EQ(status_of([&] {
              server.server->threads.copy(server.caller, "0190a5a0-0000-7000-8000-000000000001");
            }),
            409);
}

TEST(Threads, PruneDeletesOrKeepsTheLatest) {
  TestServer server;
  const std::string kept = server.thread_id();
  const std::string gone = server.thread_id();
  server.wait(kept, seq("q"));
  ThreadService& threads = server.server->threads;
  EXPECT_EQ(to_json(threads.prune(server.caller, object({{"thread_ids", list({kept})},
                                                         {"strategy", "keep_latest"}}))),
            R"({"pruned_count":1})");
  EXPECT_EQ(threads.history(server.caller, kept, object({{"limit", 10}})).size(), 1U);
  EXPECT_EQ(to_json(threads.prune(
                server.caller,
                object({{"thread_ids", list({gone, "0190a5a0-0000-7000-8000-000000000001"})}}))),
            R"({"pruned_count":1})");
  EXPECT_EQ(status_of([&] { server.thread(gone); }), 404);
}

TEST(Threads, TimeToLive) {
  ServiceOptions options;
  Time now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  options.clock = [&now] { return now; };
  options.sweep_interval = std::chrono::hours(1);
  TestServer server(options);
  const std::string id =
      server.create_thread(parse_json(R"({"ttl": {"strategy": "delete", "ttl": 60}})"))["thread_id"]
          .get<std::string>();
  const std::string stays = server.thread_id();
  const Value shown = server.server->threads.get(server.caller, id, true);
  EXPECT_EQ(shown["ttl"]["ttl_minutes"], Value(60.0));
  now += std::chrono::minutes(59);
  EXPECT_EQ(server.server->threads.sweep(), 0U);
  now += std::chrono::minutes(2);
  EXPECT_EQ(server.server->threads.sweep(), 1U);
  EXPECT_EQ(status_of([&] { server.thread(id); }), 404);
  EXPECT_EQ(server.thread(stays)["status"], Value("idle"));
}

TEST(Threads, SuperstepsMakeAState) {
  TestServer server;
  const Value thread = server.create_thread(parse_json(R"({"metadata": {"graph_id": "seq"},
      "supersteps": [{"updates": [{"values": {"value": "one"}, "as_node": "__input__"}]},
                     {"updates": [{"values": {"value": "onea", "log": ["a"]}, "as_node": "a"}]}]})"));
  EXPECT_EQ(thread["status"], Value("interrupted"));
  EXPECT_EQ(to_json(thread["values"]), R"({"value":"onea","log":["a"]})");
  const std::string id = thread["thread_id"].get<std::string>();
  EXPECT_EQ(to_json(server.state(id)["next"]), R"(["b"])");
  EXPECT_EQ(server.wait(id, object({{"assistant_id", "seq"}}))["value"], Value("oneabc"));
}

// States --------------------------------------------------------------------------

TEST(States, OfAThreadThatNeverRan) {
  TestServer server;
  const std::string id = server.thread_id();
  EXPECT_EQ(to_json(server.state(id)),
            R"({"values":{},"next":[],"tasks":[],"metadata":null,"created_at":null,)"
            R"("checkpoint":null,"parent_checkpoint":null,"interrupts":[],"checkpoint_id":null,)"
            R"("parent_checkpoint_id":null})");
  EXPECT_EQ(to_json(server.server->threads.history(server.caller, id, object())), "[]");
  EXPECT_EQ(status_of([&] {
              server.server->threads.update_state(server.caller, id,
                                                  parse_json(R"({"values": {"value": "z"}})"));
            }),
            400);
}

TEST(States, HistoryByLimitBeforeAndMetadata) {
  TestServer server;
  const std::string id = server.thread_id();
  server.wait(id, seq("x"));
  ThreadService& threads = server.server->threads;
  const auto values = [&](const Value& body) {
    const Value history = threads.history(server.caller, id, body);
    std::string text;
    for (const Value& state : history) text += to_json(state["values"]["value"]) + " ";
    return text;
  };
  EXPECT_EQ(values(object({{"limit", 10}})), R"("xabc" "xab" "xa" "x" null )");
  EXPECT_EQ(values(object({{"limit", 2}})), R"("xabc" "xab" )");
  EXPECT_EQ(values(parse_json(R"({"metadata": {"step": 1}})")), R"("xa" )");
  const Value all = threads.history(server.caller, id, object({{"limit", 10}}));
  const Value place = all[2]["checkpoint"];
  EXPECT_EQ(values(object({{"limit", 10}, {"before", place}})), R"("x" null )");
  EXPECT_EQ(values(object({{"limit", 10}, {"before", object({{"configurable", place}})}})),
            R"("x" null )");
  EXPECT_EQ(to_json(all[2]["tasks"][0]["result"]), R"({"value":"xab","log":["b"]})");
  const Value at = threads.state_at(server.caller, id, object({{"checkpoint", place}}));
  EXPECT_EQ(at["values"]["value"], Value("xa"));
  EXPECT_EQ(at["checkpoint_id"], place["checkpoint_id"]);
  const Value unknown =
      threads.state(server.caller, id, "1ef4f797-8335-6428-8001-8a1503f9b875", false);
  EXPECT_EQ(to_json(unknown["values"]), "{}");
  EXPECT_EQ(unknown["checkpoint_id"], Value("1ef4f797-8335-6428-8001-8a1503f9b875"));
}

TEST(States, UpdatesForkAndShowInTheThread) {
  TestServer server;
  const std::string id = server.thread_id();
  server.wait(id, seq("x"));
  ThreadService& threads = server.server->threads;
  const Value old = threads.history(server.caller, id, object({{"limit", 10}}))[2]["checkpoint"];
  const Value updated = threads.update_state(
      server.caller, id,
      object({{"values", object({{"value", "FORK"}})}, {"as_node", "a"}, {"checkpoint", old}}));
  EXPECT_EQ(updated["checkpoint"]["thread_id"], Value(id));
  EXPECT_EQ(updated["checkpoint_id"], updated["configurable"]["checkpoint_id"]);
  EXPECT_EQ(server.thread(id)["status"], Value("interrupted"));
  EXPECT_EQ(server.state(id)["parent_checkpoint_id"], old["checkpoint_id"]);
  EXPECT_EQ(server.wait(id, object({{"assistant_id", "seq"}}))["value"], Value("FORKbc"));
  threads.update_state(server.caller, id, parse_json(R"({"values": {"value": "patched"}})"));
  EXPECT_EQ(server.thread(id)["values"]["value"], Value("patched"));
  EXPECT_EQ(status_of([&] {
              threads.update_state(server.caller, id,
                                   parse_json(R"({"values": {}, "as_node": "zz"})"));
            }),
            400);
}

TEST(States, SubgraphsShowInTheirTask) {
  TestServer server;
  const std::string id = server.thread_id();
  server.wait(id, parse_json(R"({"assistant_id": "nested", "input": {"name": "bob"}})"));
  ThreadService& threads = server.server->threads;
  const Value outside = server.state(id)["tasks"][0];
  EXPECT_TRUE(outside["state"].is_null());
  const Value inside = threads.state(server.caller, id, "", true)["tasks"][0];
  EXPECT_TRUE(inside["checkpoint"].is_null());
  EXPECT_EQ(to_json(inside["state"]["next"]), R"(["child_ask"])");
  EXPECT_TRUE(inside["state"]["checkpoint"]["checkpoint_map"].is_object());
  const Value history = threads.history(
      server.caller, id,
      object(
          {{"limit", 10},
           {"checkpoint", object({{"checkpoint_ns", outside["checkpoint"]["checkpoint_ns"]}})}}));
  EXPECT_EQ(history[0]["values"]["name"], Value("bob"));
  threads.update_state(server.caller, id,
                       object({{"values", object({{"name", "eve"}})},
                               {"checkpoint", inside["state"]["checkpoint"]}}));
  EXPECT_EQ(server.wait(id, parse_json(R"({"assistant_id": "nested",
                                           "command": {"resume": "blue"}})"))["name"],
            Value("eve-blue!"));
}

TEST(States, ABusyThreadIsNotEdited) {
  TestServer server;
  const StartedRun run = server.create(
      server.thread_id(), parse_json(R"({"assistant_id": "slow", "input": {"delay": 30}})"));
  EXPECT_EQ(status_of([&] {
              server.server->threads.update_state(server.caller, run.thread_id,
                                                  parse_json(R"({"values": {"ticks": 1}})"));
            }),
            409);
  server.server->runs.cancel(server.caller, run.thread_id, run.run_id, {}, {});
}

// Assistants ----------------------------------------------------------------------

TEST(Assistants, GraphsHaveOneEach) {
  TestServer server;
  const Value assistant =
      server.server->assistants.get(server.caller, "7a62baa5-c934-5e7a-bf14-83aef6ffc143");
  EXPECT_EQ(assistant["name"], Value("seq"));
  EXPECT_EQ(assistant["version"], Value(1));
  EXPECT_EQ(to_json(assistant["metadata"]), R"({"created_by":"system"})");
  EXPECT_EQ(status_of([&] {
              server.server->assistants.remove(server.caller,
                                               "7a62baa5-c934-5e7a-bf14-83aef6ffc143", false);
            }),
            403);
  server.restart();
  EXPECT_EQ(server.server->assistants.count(server.caller, object()), 11U);
}

TEST(Assistants, VersionsComeAndGoBack) {
  TestServer server;
  AssistantService& assistants = server.server->assistants;
  const Value made = assistants.create(
      server.caller, parse_json(R"({"graph_id": "ctx", "name": "loud", "description": "shouts",
                                    "context": {"tone": "loud"}, "metadata": {"team": "x"}})"));
  const std::string id = made["assistant_id"].get<std::string>();
  EXPECT_EQ(to_json(made["config"]), R"({"configurable":{"tone":"loud"}})");
  const Value patched = assistants.patch(
      server.caller, id,
      parse_json(R"({"context": {"tone": "quiet"}, "metadata": {"extra": 1}, "name": "hush"})"));
  EXPECT_EQ(patched["version"], Value(2));
  EXPECT_EQ(to_json(patched["metadata"]), R"({"team":"x","extra":1})");
  const Value versions = assistants.versions(server.caller, id, object());
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions[0]["version"], Value(2));
  EXPECT_FALSE(versions[0].contains("updated_at"));
  const Value back = assistants.set_latest(server.caller, id, object({{"version", 1}}));
  EXPECT_EQ(to_json(back["context"]), R"({"tone":"loud"})");
  EXPECT_EQ(back["name"], Value("loud"));
  EXPECT_EQ(status_of([&] { assistants.set_latest(server.caller, id, object({{"version", 9}})); }),
            404);
  EXPECT_EQ(assistants.patch(server.caller, id, object({{"name", "third"}}))["version"], Value(3));
  assistants.remove(server.caller, id, false);
  EXPECT_EQ(status_of([&] { assistants.get(server.caller, id); }), 404);
  EXPECT_EQ(status_of([&] { assistants.remove(server.caller, id, false); }), 404);
}

TEST(Assistants, SearchAndRefusals) {
  TestServer server;
  AssistantService& assistants = server.server->assistants;
  assistants.create(
      server.caller,
      parse_json(R"({"graph_id": "ctx", "name": "Loud", "metadata": {"team": "x"}})"));
  const auto names = [&](const char* json) {
    std::string text;
    const Listing listing = assistants.search(server.caller, parse_json(json));
    for (const Value& row : listing.rows) text += row["name"].get<std::string>() + " ";
    return text + std::to_string(listing.total);
  };
  EXPECT_EQ(names(R"({"metadata": {"team": "x"}})"), "Loud 1");
  EXPECT_EQ(names(R"({"graph_id": "ctx", "sort_by": "name", "sort_order": "asc"})"), "Loud ctx 2");
  EXPECT_EQ(names(R"({"name": "lou"})"), "Loud 1");
  EXPECT_EQ(names(R"({"limit": 2, "sort_by": "name", "sort_order": "asc"})"), "Loud approval 3");
  const auto status = [&](const char* json) {
    return status_of([&] { assistants.create(server.caller, parse_json(json)); });
  };
  EXPECT_EQ(status(R"({"graph_id": "nope"})"), 404);
  EXPECT_EQ(status("{}"), 422);
  EXPECT_EQ(status(R"({"graph_id": "ctx", "config": {"configurable": {"tone": "a"}},
                       "context": {"tone": "b"}})"),
            400);
  EXPECT_EQ(status_of([&] { assistants.get(server.caller, "seq"); }), 422);
  EXPECT_EQ(assistants.graph(server.caller, "seq", {})["nodes"].size(), 5U);
}

}  // namespace
}  // namespace clew::server
