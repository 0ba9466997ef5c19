// The schemas that a graph has for those who call it from elsewhere.
#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

struct Item {
  int n = 0;
};
CLEW_STATE(Item, n)

struct FanState {
  std::vector<int> items;
  std::vector<int> squares;
  Value messages = list();
};
CLEW_STATE(FanState, items, reduced(squares, append), reduced(messages, add_messages))

struct Answer {
  std::vector<int> squares;
};
CLEW_STATE(Answer, squares)

struct Voice {
  std::string tone = "plain";
  int times = 1;
};
CLEW_STATE(Voice, tone, times)

StateGraph<FanState> fan() {
  StateGraph<FanState> graph;
  graph
      .add_node("square",
                [](const Item& item) { return Update{{"squares", list({item.n * item.n})}}; })
      .add_edge(START, "square");
  return graph;
}

TEST(GraphSchemas, InputAndOutputAreTheFieldsOfTheState) {
  const CompiledGraph graph = fan().compile();
  const Value input = graph.get_input_jsonschema();
  EXPECT_EQ(input["title"], "FanState");
  EXPECT_EQ(to_json(input["properties"]["items"]),
            R"({"items":{"type":"integer"},"type":"array","title":"Items"})");
  EXPECT_FALSE(input["properties"].contains("n"));
  EXPECT_EQ(graph.get_output_jsonschema(), input);
}

TEST(GraphSchemas, AddMessagesMakesAListOfMessages) {
  const Value input = fan().compile().get_input_jsonschema();
  EXPECT_EQ(input["properties"]["messages"]["type"], "array");
  EXPECT_EQ(input["properties"]["messages"]["items"]["oneOf"][1]["$ref"], "#/$defs/HumanMessage");
  EXPECT_TRUE(input["$defs"].contains("HumanMessage"));
  EXPECT_FALSE(input["properties"]["messages"].contains("$defs"));
}

TEST(GraphSchemas, TheStateHasAllChannelsAndTheNameOfTheGraph) {
  const Value state = fan().compile({.name = "fanout"}).get_state_jsonschema();
  EXPECT_EQ(state["title"], "fanout_state");
  EXPECT_EQ(to_json(state["properties"]["n"]), R"({"type":"integer","title":"N","default":null})");
  EXPECT_EQ(fan().compile().get_state_jsonschema()["title"], "LangGraphState");
}

TEST(GraphSchemas, InputAndOutputMayBeOtherTypes) {
  const CompiledGraph graph = fan().input_schema<Item>().output_schema<Answer>().compile();
  EXPECT_EQ(graph.get_input_jsonschema()["title"], "Item");
  EXPECT_EQ(graph.get_output_jsonschema()["title"], "Answer");
  EXPECT_EQ(to_json(graph.get_input_jsonschema()["properties"]),
            R"({"n":{"type":"integer","title":"N"}})");
}

TEST(GraphSchemas, WithoutAContextSchemaThereIsNone) {
  const CompiledGraph graph = fan().compile();
  EXPECT_EQ(graph.get_context_jsonschema(), Value());
  EXPECT_EQ(graph.get_config_jsonschema(), object());
}

TEST(GraphSchemas, TheContextSchemaIsThatOfItsStruct) {
  const CompiledGraph graph = fan().context_schema<Voice>().compile();
  EXPECT_EQ(to_json(graph.get_context_jsonschema()),
            R"({"properties":{"tone":{"type":"string","title":"Tone"},)"
            R"("times":{"type":"integer","title":"Times"}},"title":"Voice","type":"object"})");
  EXPECT_EQ(graph.get_config_jsonschema(), graph.get_context_jsonschema());
}

TEST(GraphSchemas, ChannelsByNameAreKnownByTheirFirstValue) {
  StateGraph<Value> graph({{"foo", last_value()}, {"bar", reduced(append, list())}});
  graph.add_node("a", [](const Value&) { return Update(); }).add_edge(START, "a");
  const Value input = graph.compile({.name = "agent"}).get_input_jsonschema();
  EXPECT_EQ(to_json(input), R"({"properties":{"foo":{"title":"Foo"},)"
                            R"("bar":{"items":{},"type":"array","title":"Bar"}},)"
                            R"("title":"agent_input","type":"object"})");
}

TEST(GraphSchemas, AnEntrypointTakesAndReturnsAnything) {
  const CompiledGraph graph = entrypoint("work", [](const Value& input) { return input; });
  EXPECT_EQ(graph.get_input_jsonschema(), object({{"title", "work_input"}}));
  EXPECT_EQ(graph.get_output_jsonschema(), object({{"title", "work_output"}}));
}

TEST(GraphSchemas, NodesReadTheContextAsItsStruct) {
  const CompiledGraph graph = StateGraph<Value>({{"said", last_value()}})
                                  .add_node("speak",
                                            [](const Value&, Runtime& runtime) {
                                              const auto voice = runtime.context<Voice>();
                                              return Update().set("said", voice.tone);
                                            })
                                  .add_edge(START, "speak")
                                  .compile();
  EXPECT_EQ(graph.invoke(object())["said"], "plain");
  EXPECT_EQ(graph.invoke(object(), {.context = {{"tone", "warm"}}})["said"], "warm");
}

}  // namespace
}  // namespace clew
