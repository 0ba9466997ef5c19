// What goes in, what comes out, and what a graph keeps to itself.
#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "unit/error_text.hpp"

namespace clew {
namespace {

struct Question {
  std::string question;
};
CLEW_STATE(Question, question)

struct Answer {
  std::string answer;
};
CLEW_STATE(Answer, answer)

struct Notes {
  std::vector<std::string> notes;
};
CLEW_STATE(Notes, notes)

struct State {
  std::string question;
  std::string answer;
  int budget = 10;
  std::vector<std::string> notes = {"begun"};
};
CLEW_STATE(State, question, answer, budget, reduced(notes, append))

StateGraph<State> answering() {
  StateGraph<State> graph;
  graph
      .add_node("answer",
                [](const State& state) {
                  return Update{{"answer", state.question + "!"}, {"notes", {"answered"}}};
                })
      .add_edge(START, "answer");
  return graph;
}

TEST(Schema, TheOutputSchemaIsWhatInvokeReturns) {
  const CompiledGraph graph = answering().output_schema<Answer>().compile();
  EXPECT_EQ(graph.invoke({{"question", "hi"}}), object({{"answer", "hi!"}}));
}

TEST(Schema, TheInputSchemaIsWhatInvokeTakes) {
  const CompiledGraph graph = answering().input_schema<Question>().compile();
  const Value result = graph.invoke({{"question", "hi"}, {"budget", 1}});
  EXPECT_EQ(result["answer"], "hi!");
  EXPECT_FALSE(result.contains("budget"));  // never written
}

TEST(Schema, OutputKeysOfARunComeBeforeTheOutputSchema) {
  const CompiledGraph graph = answering().output_schema<Answer>().compile();
  Config config;
  config.output_keys = {"notes"};
  EXPECT_EQ(graph.invoke({{"question", "hi"}}, config),
            object({{"notes", list({"begun", "answered"})}}));
  config.output_keys = {"nonsense"};
  EXPECT_EQ(error_text<BadArgumentError>([&] { graph.invoke({{"question", "hi"}}, config); }),
            "output_keys names 'nonsense', which is not a channel of the graph");
}

TEST(Schema, DefaultsOfReducedFieldsAreWhereTheyStart) {
  // A field without a reducer has no value before it is written; nodes see its default.
  int seen = 0;
  const CompiledGraph graph =
      StateGraph<State>()
          .add_node("look", [&](const State& state) { seen = state.budget; })
          .add_edge(START, "look")
          .compile();
  EXPECT_EQ(graph.invoke({{"question", "hi"}}),
            object({{"question", "hi"}, {"notes", list({"begun"})}}));
  EXPECT_EQ(seen, 10);
}

TEST(Schema, TheFirstDeclarationOfAChannelCounts) {
  // A node's own struct does not take the reducer from `notes`.
  const CompiledGraph graph =
      answering()
          .add_node("look", [](const Notes& notes) { return Notes{{notes.notes.back() + "?"}}; })
          .add_edge("answer", "look")
          .compile();
  EXPECT_EQ(graph.invoke({{"question", "hi"}})["notes"], list({"begun", "answered", "answered?"}));
}

}  // namespace
}  // namespace clew
