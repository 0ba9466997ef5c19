// The thirteen graphs of examples/server_graphs, loaded as a server loads them.
#include <chrono>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "server/config.hpp"
#include "server/graph_registry.hpp"
#include "unit/error_text.hpp"

namespace clew::server {
namespace {

using namespace std::chrono_literals;

const Config kThread{.thread_id = "1"};

// A registry with all of them, on a checkpointer and a store of its own.
class ServerGraphs : public testing::Test {
 protected:
  ServerGraphs()
      : graphs({.checkpointer = std::make_shared<InMemorySaver>(),
                .store = std::make_shared<InMemoryStore>()}) {
    const ServerConfig config = load_config(CLEW_PLUGIN_DIR "/clew.json");
    for (const GraphProblem& problem : graphs.load(config.graphs)) {
      ADD_FAILURE() << problem.name << ": " << problem.reason;
    }
  }

  const CompiledGraph& graph(std::string_view name) { return hosted(name)->graph(); }
  std::shared_ptr<const HostedGraph> hosted(std::string_view name) { return graphs.find(name); }
  std::string run(std::string_view name, const Value& input, const Config& config = kThread) {
    return to_json(graph(name).invoke(input, config));
  }

  GraphRegistry graphs;
};

TEST_F(ServerGraphs, AllAreThereInTheOrderOfTheFile) {
  std::string names;
  for (const auto& hosted_graph : graphs.all()) names += hosted_graph->name() + " ";
  EXPECT_EQ(names,
            "echo seq fanout approval nested two_asks fail slow remember ctx loop router chat ");
}

TEST_F(ServerGraphs, EchoAnswersWithTheLastMessage) {
  const Value result = graph("echo").invoke(
      {{"messages", list({object({{"role", "user"}, {"content", "hey"}, {"id", "m1"}})})}},
      kThread);
  std::string messages;
  for (const Value& message : result["messages"]) {
    messages += std::string(message_type(message)) + " " + message_text(message) + " " +
                std::string(*message_id(message)) + "\n";
  }
  EXPECT_EQ(messages, "human hey m1\nai echo: hey ai-1\n");
}

TEST_F(ServerGraphs, SeqHasFiveCheckpoints) {
  EXPECT_EQ(run("seq", {{"value", "x"}}), R"({"value":"xabc","log":["a","b","c"]})");
  std::string steps;
  for (const StateSnapshot& snapshot : graph("seq").get_state_history(kThread)) {
    steps += to_json(snapshot.metadata["step"]) + to_json(Value(snapshot.next)) + " ";
  }
  EXPECT_EQ(steps, R"(3[] 2["c"] 1["b"] 0["a"] -1["__start__"] )");
  EXPECT_EQ(run("seq", {{"value", ""}}), R"({"value":"abc","log":["a","b","c","a","b","c"]})");
}

TEST_F(ServerGraphs, FanoutMergesInTheOrderOfItems) {
  EXPECT_EQ(run("fanout", {{"items", list({3, 1, 2})}}),
            R"({"items":[3,1,2],"squares":[9,1,4],"total":14})");
}

TEST_F(ServerGraphs, ApprovalAsksAndGoesOn) {
  const Value asked = graph("approval").invoke({{"text", "hi"}}, kThread);
  EXPECT_EQ(to_json(asked["__interrupt__"][0].get<Interrupt>().value),
            R"({"question":"approve HI?"})");
  EXPECT_EQ(run("approval", Command{.resume = "yes"}),
            R"({"text":"HI:yes","answer":"yes","log":["draft","ask","finish"]})");
}

TEST_F(ServerGraphs, ApprovalWritesOtherAnswersAsSortedJson) {
  graph("approval").invoke({{"text", "hi"}}, kThread);
  const Value result =
      graph("approval").invoke(Command{.resume = object({{"b", 1}, {"a", list({2})}})}, kThread);
  EXPECT_EQ(result["answer"], R"({"a":[2],"b":1})");
}

TEST_F(ServerGraphs, NestedAsksFromItsChild) {
  const Value asked = graph("nested").invoke({{"name", " bob "}}, kThread);
  EXPECT_EQ(asked["__interrupt__"][0].get<Interrupt>().value, "color for bob?");
  EXPECT_EQ(run("nested", Command{.resume = "red"}),
            R"({"name":"bob-red!","log":["child_greet:bob","child_ask"]})");
}

TEST_F(ServerGraphs, TwoAsksAreAnsweredTogetherById) {
  const Value asked = graph("two_asks").invoke({{"got", list()}}, kThread);
  ObjectBuilder answers;
  for (const Value& question : asked["__interrupt__"]) {
    const auto interrupt = question.get<Interrupt>();
    answers.set(interrupt.id, interrupt.value["who"] == "left" ? "L" : "R");
  }
  EXPECT_EQ(run("two_asks", Command{.resume = std::move(answers).build()}),
            R"({"got":["left=L","right=R"]})");
}

TEST_F(ServerGraphs, FailFailsUnlessToldNotTo) {
  EXPECT_EQ(error_text<ValueError>([&] { graph("fail").invoke({{"value", ""}}, kThread); }),
            "boom at maybe_boom");
  EXPECT_EQ(graph("fail").get_state(kThread).tasks[0].error, "ValueError('boom at maybe_boom')");
  EXPECT_EQ(run("fail", {{"value", ""}, {"boom", false}}, {.thread_id = "2"}),
            R"({"value":"ok+survived","boom":false})");
}

TEST_F(ServerGraphs, SlowTellsItsTicks) {
  std::string events;
  for (const StreamEvent& event :
       graph("slow").stream({{"ticks", 2}, {"delay", 0.001}}, kThread,
                            {.modes = {StreamMode::custom, StreamMode::updates}})) {
    events += to_json(event.data) + " ";
  }
  EXPECT_EQ(events,
            R"({"tick":0} {"tick":1} {"work":{"done":["work:2"]}} {"end":{"done":["end"]}} )");
}

TEST_F(ServerGraphs, SlowIsCancelledWhileItSleeps) {
  std::stop_source stop;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(20ms);
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(
      graph("slow").invoke({{"delay", 3600}}, {.thread_id = "1", .stop = stop.get_token()}),
      Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1min);
  EXPECT_EQ(graph("slow").get_state(kThread).next, std::vector<std::string>{"work"});
}

TEST_F(ServerGraphs, RememberKnowsTheFactsOfAUserOnEveryThread) {
  run("remember", {{"user", "ann"}, {"fact", "tea"}});
  run("remember", {{"user", "bob"}, {"fact", "rum"}});
  EXPECT_EQ(run("remember", {{"user", "ann"}, {"fact", "art"}}, {.thread_id = "2"}),
            R"({"user":"ann","fact":"art","known":["art","tea"]})");
  EXPECT_EQ(run("remember", {{"user", "ann"}, {"fact", ""}}, {.thread_id = "3"}),
            R"({"user":"ann","fact":"","known":["art","tea"]})");
}

TEST_F(ServerGraphs, CtxSpeaksAsTheContextSays) {
  EXPECT_EQ(run("ctx", {{"text", "hi"}}), R"({"text":"plain:hi"})");
  Config warm{.thread_id = "2"};
  warm.context = hosted("ctx")->run_context({{"tone", "warm"}, {"times", 2}, {"dropped", 1}});
  EXPECT_EQ(run("ctx", {{"text", "hi"}}, warm), R"({"text":"warm:hi warm:hi"})");
}

TEST_F(ServerGraphs, LoopCountsUntilItIsToldToStop) {
  EXPECT_EQ(run("loop", object({{"count", 0}})), R"({"count":3})");
  EXPECT_EQ(run("loop", {{"until", 5}}, {.thread_id = "2"}), R"({"count":5,"until":5})");
  const Config limited{.thread_id = "3", .recursion_limit = 5};
  EXPECT_THAT(
      error_text<GraphRecursionError>([&] { graph("loop").invoke({{"until", 50}}, limited); }),
      testing::HasSubstr("5"));
}

TEST_F(ServerGraphs, RouterGoesWhereItsCommandSays) {
  EXPECT_EQ(run("router", {{"kind", "even"}}), R"({"kind":"even","path":["pick","even"]})");
  EXPECT_EQ(run("router", {{"kind", "x"}}, {.thread_id = "2"}),
            R"({"kind":"x","path":["pick","odd"]})");
}

TEST_F(ServerGraphs, ChatStreamsItsWordsUnderOneId) {
  std::string pieces;
  std::set<std::string> ids;
  std::string last_position;
  for (const StreamEvent& event : graph("chat").stream({{"messages", list({"hello"})}}, kThread,
                                                       {.modes = {StreamMode::messages}})) {
    const auto chunk = event.data[0].get<AIMessageChunk>();
    pieces += "[" + std::string(chunk.content.as_string()) + "]";
    ids.insert(*chunk.id);
    last_position = chunk.chunk_position.value_or("none");
  }
  EXPECT_EQ(pieces, "[you ][said: ][hello][]");
  EXPECT_EQ(last_position, "last");
  ASSERT_EQ(ids.size(), 1U);
  const Value messages = graph("chat").get_state(kThread).values["messages"];
  EXPECT_EQ(message_type(messages[1]), "ai");
  EXPECT_EQ(message_text(messages[1]), "you said: hello");
  EXPECT_EQ(*message_id(messages[1]), *ids.begin());
  EXPECT_TRUE(ids.begin()->starts_with("lc_run--"));
}

// What the API tells ---------------------------------------------------------

TEST_F(ServerGraphs, SchemasOfCtx) {
  EXPECT_EQ(hosted("ctx")->schemas(), parse_json(R"({"graph_id": "ctx",
        "input_schema": {"properties": {"text": {"title": "Text", "type": "string"}, "seen": {"additionalProperties": true, "title": "Seen", "type": "object"}}, "title": "CtxState", "type": "object"},
        "output_schema": {"properties": {"text": {"title": "Text", "type": "string"}, "seen": {"additionalProperties": true, "title": "Seen", "type": "object"}}, "title": "CtxState", "type": "object"},
        "state_schema": {"properties": {"text": {"default": null, "title": "Text", "type": "string"}, "seen": {"additionalProperties": true, "default": null, "title": "Seen", "type": "object"}}, "title": "ctx_state", "type": "object"},
        "config_schema": {"properties": {"tone": {"title": "Tone", "type": "string"}, "times": {"title": "Times", "type": "integer"}}, "title": "Ctx", "type": "object"},
        "context_schema": {"properties": {"tone": {"title": "Tone", "type": "string"}, "times": {"title": "Times", "type": "integer"}}, "title": "Ctx", "type": "object"}})"));
}

TEST_F(ServerGraphs, SchemasOfFanoutShowWhatItsTasksAreSent) {
  EXPECT_EQ(
      hosted("fanout")->schemas()["state_schema"],
      parse_json(
          R"({"properties": {"items": {"default": null, "items": {"type": "integer"}, "title": "Items", "type": "array"}, "squares": {"default": null, "items": {"type": "integer"}, "title": "Squares", "type": "array"}, "total": {"default": null, "title": "Total", "type": "integer"}, "n": {"default": null, "title": "N", "type": "integer"}}, "title": "fanout_state", "type": "object"})"));
  EXPECT_EQ(hosted("fanout")->schemas()["context_schema"], Value());
  EXPECT_EQ(hosted("fanout")->schemas()["config_schema"], object());
}

TEST_F(ServerGraphs, SubgraphsOfNested) {
  const Value child = parse_json(
      R"({"input_schema": {"properties": {"name": {"title": "Name", "type": "string"}, "log": {"items": {"type": "string"}, "title": "Log", "type": "array"}}, "title": "NestedState", "type": "object"},
          "output_schema": {"properties": {"name": {"title": "Name", "type": "string"}, "log": {"items": {"type": "string"}, "title": "Log", "type": "array"}}, "title": "NestedState", "type": "object"},
          "state_schema": {"properties": {"name": {"default": null, "title": "Name", "type": "string"}, "log": {"default": null, "items": {"type": "string"}, "title": "Log", "type": "array"}}, "title": "LangGraphState", "type": "object"},
          "config_schema": {}, "context_schema": null})");
  EXPECT_EQ(hosted("nested")->subgraph_schemas("", false), object({{"child", child}}));
  EXPECT_EQ(hosted("nested")->subgraph_schemas("child", true), object({{"child", child}}));
  EXPECT_EQ(hosted("nested")->subgraph_schemas("other", true), object());
  EXPECT_EQ(hosted("seq")->subgraph_schemas("", true), object());
}

// "a -> b", and "a ~> b" for a way that may be taken.
std::string drawn(const Value& drawing) {
  std::string text;
  for (const Value& node : drawing["nodes"]) {
    const std::string id = node.get<std::string>("id");
    const bool is_end = id == END;
    const Value expected =
        is_end ? object({{"id", id}})
               : object({{"id", id}, {"type", "runnable"}, {"data", object({{"name", id}})}});
    text += (node == expected ? id : to_json(node)) + " ";
  }
  for (const Value& edge : drawing["edges"]) {
    text += "\n" + edge.get<std::string>("source") +
            (edge["conditional"] == true ? " ~> " : " -> ") + edge.get<std::string>("target");
  }
  return text;
}

TEST_F(ServerGraphs, Drawings) {
  EXPECT_EQ(drawn(hosted("fanout")->drawing(false)),
            "__start__ plan square gather __end__ \n__start__ -> plan\nplan ~> square\n"
            "square -> gather\ngather -> __end__");
  EXPECT_EQ(drawn(hosted("loop")->drawing(false)),
            "__start__ step __end__ \n__start__ -> step\nstep ~> __end__\nstep ~> step");
  EXPECT_EQ(drawn(hosted("router")->drawing(false)),
            "__start__ pick even odd __end__ \n__start__ -> pick\npick ~> even\npick ~> odd\n"
            "even -> __end__\nodd -> __end__");
  EXPECT_EQ(drawn(hosted("nested")->drawing(false)),
            "__start__ before child after __end__ \n__start__ -> before\nbefore -> child\n"
            "child -> after\nafter -> __end__");
  EXPECT_EQ(drawn(hosted("nested")->drawing(true)),
            "__start__ before after __end__ child:child_greet child:child_ask \n"
            "__start__ -> before\nbefore -> child:child_greet\nchild:child_ask -> after\n"
            "after -> __end__\nchild:child_greet -> child:child_ask");
}

}  // namespace
}  // namespace clew::server
