#include "samples.hpp"
#include "shapes/shape.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

std::string latest_text(std::string current, std::string update) {
  return update.empty() ? current : update;
}

Value latest(const Value&, const Value& update) { return update; }

Value latest_not_null(const Value& current, const Value& update) {
  return update.is_null() ? current : update;
}

Value latest_not_empty(const Value& current, const Value& update) {
  return update.is_null() || update.empty() ? current : update;
}

struct State {
  Value messages = list();
  Value trigger_events = list();
  std::string primary_issue_medium = "email";
  Value autoresponse;
  Value issue;
  Value relevant_rules;
  Value memory_docs;
  Value categorizations = list();
  Value responses = list();
  Value user_info;
  Value crm_info;
  std::optional<std::string> email_thread_id;
  Value slack_participants = object();
  std::optional<std::string> bot_id;
  Value notified_assignees = object();
};
CLEW_STATE(State, reduced(messages, append), reduced(trigger_events, append),
           reduced(primary_issue_medium, latest_text), reduced(autoresponse, latest),
           reduced(issue, latest_not_empty), relevant_rules, memory_docs,
           reduced(categorizations, append), reduced(responses, append),
           reduced(user_info, latest_not_null), reduced(crm_info, latest_not_null),
           reduced(email_thread_id, latest_not_null), reduced(slack_participants, merge), bot_id,
           reduced(notified_assignees, merge))

const Value& last(const Value& elements) { return elements[elements.size() - 1]; }

// A round of five super-steps more than triples the messages; it is repeated
// until there are more than `size`.
StateGraph<State> make_graph(std::size_t size) {
  const std::string text = hexstr("wide", size);
  StateGraph<State> graph;
  graph.add_node("one", [text](const State& state) {
    return Update{{"trigger_events", state.messages}, {"primary_issue_medium", text}};
  });
  graph.add_node("two", [](const State& state) {
    const Value& event = last(state.trigger_events);
    return Update{{"autoresponse", event}, {"issue", event}};
  });
  graph.add_node("three", [](const State& state) {
    return Update{{"relevant_rules", list({state.autoresponse})}};
  });
  graph.add_node("four", [](const State& state) {
    return Update{{"categorizations", state.trigger_events},
                  {"responses", state.trigger_events},
                  {"memory_docs", state.trigger_events}};
  });
  graph.add_node("five", [text](const State& state) {
    const Value& category = last(state.categorizations);
    return Update{{"user_info", category},   {"crm_info", category},
                  {"email_thread_id", text}, {"slack_participants", category},
                  {"bot_id", text},          {"notified_assignees", category}};
  });
  graph.add_node("six", [](const State& state) { return Update{{"messages", state.responses}}; });
  graph.add_edge(START, "one");
  graph.add_edge("one", "two");
  graph.add_edge("two", "three");
  graph.add_edge("two", "four");
  graph.add_edge({"three", "four"}, "five");
  graph.add_edge("five", "six");
  graph.add_conditional_edges(
      "six", [size](const State& state) { return state.messages.size() > size ? END : "one"; });
  return graph;
}

// A message of three entries of three entries: 9 lists of 25 scalars.
Value make_message() {
  ListBuilder scalars;
  for (int i = 0; i < 5; ++i) {
    scalars.push_back("hi?hi?hi?hi?hi?hi?hi?hi?hi?hi?");
    scalars.push_back(true);
    scalars.push_back(1);
    scalars.push_back(6327816386138);
    scalars.push_back(nullptr);
  }
  const Value lists = std::move(scalars).build();
  const Value inner{{"0000000000", lists}, {"1111111111", lists}, {"2222222222", lists}};
  return {{"0000000000", inner}, {"1111111111", inner}, {"2222222222", inner}};
}

int count_rounds(std::size_t size) {
  std::size_t messages = 1;
  std::size_t events = 0;
  std::size_t responses = 0;
  int rounds = 0;
  for (; messages <= size; ++rounds) {
    events += messages;
    responses += events;
    messages += responses;
  }
  return rounds;
}

}  // namespace

void run_wide_state(const Options& options) {
  const std::size_t size = options.size ? static_cast<std::size_t>(options.size) : 1200;
  run_shape(options, {.name = "wide_state_9x" + std::to_string(size),
                      .graph = make_graph(size).builder(),
                      .input = {{"messages", list({make_message()})}},
                      .steps = 5 * count_rounds(size)});
}

}  // namespace clew::bench
