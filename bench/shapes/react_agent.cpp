#include <clew/add_messages.hpp>

#include "samples.hpp"
#include "shapes/shape.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

struct State {
  Value messages = list();
};
CLEW_STATE(State, reduced(messages, add_messages))

std::string repeated(const std::string& text, int times) {
  std::string all;
  all.reserve(text.size() * static_cast<std::size_t>(times));
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// What the model answers: so many calls of a tool, and then a text.
std::vector<Value> make_replies(int calls) {
  std::vector<Value> replies;
  for (int i = 0; i < calls; ++i) {
    const std::string number = std::to_string(i);
    const Value args{{"query", hexstr("query" + number, 3600)}};
    replies.push_back(
        AIMessage{.id = "a" + number,
                  .tool_calls = {{.name = "search", .args = args, .id = "call" + number}}});
  }
  replies.push_back(AIMessage{.content = repeated("answer", 100), .id = "answer"});
  return replies;
}

Update search(const Value& task) {
  const ToolCall call = task.get<ToolCall>();
  const std::string result = "result for query: " + call.args.get<std::string>("query");
  return {{"messages",
           list({ToolMessage{
               .content = repeated(result, 10), .name = call.name, .tool_call_id = *call.id}})}};
}

std::vector<Send> call_tools(const State& state) {
  std::vector<Send> sends;
  for (const ToolCall& call : message_tool_calls(state.messages[state.messages.size() - 1])) {
    sends.push_back({"tools", call});
  }
  return sends;
}

StateGraph<State> make_agent(int calls) {
  StateGraph<State> graph;
  graph.add_node("agent", [replies = make_replies(calls)](const State& state) {
    return Update{{"messages", list({replies[state.messages.size() / 2]})}};
  });
  graph.add_node("tools", search);
  graph.add_edge(START, "agent");
  graph.add_conditional_edges("agent", call_tools, {{{"tools", "tools"}}});
  graph.add_edge("tools", "agent");
  return graph;
}

}  // namespace

namespace {

void run_agent(const Options& options, const std::string& name) {
  const int calls = options.size ? options.size : 100;
  run_shape(options, {.name = name + "_" + std::to_string(calls) + "x",
                      .graph = make_agent(calls).builder(),
                      .input = {{"messages", list({HumanMessage{.content = "hi?"}})}},
                      .steps = 2 * calls + 1});
}

}  // namespace

void run_react_agent(const Options& options) { run_agent(options, "react_agent"); }
void run_react_graph(const Options& options) { run_agent(options, "react_graph"); }

}  // namespace clew::bench
