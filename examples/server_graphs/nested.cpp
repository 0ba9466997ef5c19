// nested: a graph inside a graph, which asks a question from there.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct NestedState {
  std::string name;
  std::vector<std::string> log;
};
CLEW_STATE(NestedState, name, reduced(log, append))

// The same fields, but here the log of the child replaces the one before.
struct ParentState {
  std::string name;
  std::vector<std::string> log;
};
CLEW_STATE(ParentState, name, log)

namespace {

std::string stripped(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

Update child_greet(const NestedState& state) {
  return Update{{"log", list({"child_greet:" + state.name})}};
}

Update child_ask(const NestedState& state, Runtime& runtime) {
  const Value color = runtime.interrupt("color for " + state.name + "?");
  const std::string text = color.is_string() ? color.get<std::string>() : to_json(color);
  return Update{{"name", state.name + "-" + text}, {"log", list({"child_ask"})}};
}

CompiledGraph child() {
  return StateGraph<NestedState>()
      .add_node("child_greet", child_greet)
      .add_node("child_ask", child_ask)
      .add_edge(START, "child_greet")
      .add_edge("child_greet", "child_ask")
      .add_edge("child_ask", END)
      .compile();
}

StateGraph<ParentState> nested() {
  return StateGraph<ParentState>()
      .add_node("before",
                [](const ParentState& state) { return Update{{"name", stripped(state.name)}}; })
      .add_node("child", child())
      .add_node("after",
                [](const ParentState& state) { return Update{{"name", state.name + "!"}}; })
      .add_edge(START, "before")
      .add_edge("before", "child")
      .add_edge("child", "after")
      .add_edge("after", END);
}

}  // namespace

CLEW_GRAPH(nested)
