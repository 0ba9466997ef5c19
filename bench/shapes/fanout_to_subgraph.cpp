#include "samples.hpp"
#include "shapes/shape.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

struct Show {
  std::vector<std::string> subjects;
  std::vector<std::string> jokes;
};
CLEW_STATE(Show, subjects, reduced(jokes, append))

struct JokeInput {
  std::string subject;
};
CLEW_STATE(JokeInput, subject)

struct JokeOutput {
  std::vector<std::string> jokes;
};
CLEW_STATE(JokeOutput, jokes)

struct Joke {
  std::string subject;
  std::vector<std::string> jokes;
};
CLEW_STATE(Joke, subject, jokes)

// edit, generate, and ten times bump.
constexpr int kStepsOfJoke = 12;

CompiledGraph make_joke() {
  StateGraph<Joke> graph;
  graph.input_schema<JokeInput>();
  graph.output_schema<JokeOutput>();
  graph.add_node("edit", [](const JokeInput& input) {
    return Update{{"subject", input.subject + " - hohoho"}};
  });
  graph.add_node("generate", [](const JokeInput& input) {
    return Update{{"jokes", list({"Joke about " + input.subject})}};
  });
  graph.add_node("bump", [](const JokeOutput& output) {
    return Update{{"jokes", list({output.jokes[0] + " a"})}};
  });
  graph.add_edge(START, "edit");
  graph.add_edge("edit", "generate");
  graph.add_edge("generate", "bump");
  graph.add_conditional_edges("bump", [](const JokeOutput& output) {
    return output.jokes[0].ends_with(" a a a a a a a a a a") ? END : "bump";
  });
  return graph.compile();
}

std::vector<Send> joke_about_each(const Show& show) {
  std::vector<Send> sends;
  for (const std::string& subject : show.subjects) {
    sends.push_back({"generate_joke", {{"subject", subject}}});
  }
  return sends;
}

StateGraph<Show> make_show() {
  StateGraph<Show> graph;
  graph.add_node("generate_joke", make_joke());
  graph.add_conditional_edges(START, joke_about_each);
  graph.add_edge("generate_joke", END);
  return graph;
}

Value make_subjects(int count) {
  ListBuilder subjects;
  for (int i = 0; i < count; ++i) subjects.push_back(hexstr("subject" + std::to_string(i), 1000));
  return std::move(subjects).build();
}

}  // namespace

void run_fanout_to_subgraph(const Options& options) {
  const int subjects = options.size ? options.size : 100;
  run_shape(options, {.name = "fanout_to_subgraph_" + std::to_string(subjects) + "x",
                      .graph = make_show().builder(),
                      .input = {{"subjects", make_subjects(subjects)}},
                      .steps = 1 + kStepsOfJoke * subjects});
}

}  // namespace clew::bench
