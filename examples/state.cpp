// Channels: what an update does to a key of the state.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

// [snippet reducers]
std::vector<std::string> keep_two(std::vector<std::string> current,
                                  const std::vector<std::string>& update) {
  current.insert(current.end(), update.begin(), update.end());
  if (current.size() > 2) current.erase(current.begin(), current.end() - 2);
  return current;
}

struct State {
  std::string topic;                // an update replaces it
  std::vector<std::string> log;     // an update is appended
  int cost = 0;                     // an update is added
  std::vector<std::string> recent;  // a function of our own
};
CLEW_STATE(State, topic, reduced(log, append), reduced(cost, add), reduced(recent, keep_two))
// [/snippet reducers]

// [snippet schemas]
struct Question {
  std::string topic;
};
CLEW_STATE(Question, topic)

struct Answer {
  int cost = 0;
  std::string verdict;
};
CLEW_STATE(Answer, reduced(cost, add), verdict)

struct Private {
  std::string secret;
};
CLEW_STATE(Private, secret)
// [/snippet schemas]

int main() {
  // [snippet updates]
  auto work = [](const State& state) {
    return Update{
        {"topic", state.topic + "!"}, {"log", {"worked"}}, {"cost", 5}, {"recent", {"x", "y"}}};
  };
  auto graph = StateGraph<State>().add_node("work", work).add_edge(START, "work").compile();
  std::cout << graph.invoke({{"topic", "tides"}, {"cost", 1}, {"recent", {"w"}}}) << '\n';
  // {"topic":"tides!","log":["worked"],"cost":6,"recent":["x","y"]}
  // [/snippet updates]

  // [snippet twice]
  auto rename = [](const State&) { return Update{{"topic", "moons"}}; };
  auto both = StateGraph<State>()
                  .add_node("one", rename)
                  .add_node("two", rename)
                  .add_edge(START, "one")
                  .add_edge(START, "two")
                  .compile();
  try {
    both.invoke({{"topic", "tides"}});
  } catch (const InvalidUpdateError& error) {
    std::cout << error.what() << '\n';
    // channel 'topic' was written more than once in a step; give it a reducer to combine several values
  }
  // [/snippet twice]

  // [snippet overwrite]
  auto reset = [](const State&) { return Update{{"log", Overwrite{list({"fresh"})}}}; };
  auto fresh = StateGraph<State>().add_node("reset", reset).add_edge(START, "reset").compile();
  std::cout << fresh.invoke({{"log", {"old"}}})["log"] << '\n';  // ["fresh"]
  // [/snippet overwrite]

  // [snippet input_output]
  auto answer =
      StateGraph<State>()
          .input_schema<Question>()
          .output_schema<Answer>()
          .add_node("think", [](const Question& q) { return Update{{"secret", "why " + q.topic}}; })
          .add_node("tell", [](const Private& p) { return Update{{"verdict", p.secret + "?"}}; })
          .add_edge(START, "think")
          .add_edge("think", "tell")
          .compile();
  std::cout << answer.invoke({{"topic", "tides"}}) << '\n';  // {"cost":0,"verdict":"why tides?"}
  // [/snippet input_output]

  // [snippet dynamic]
  auto dynamic =
      StateGraph<Value>({{"foo", last_value()}, {"bar", reduced(append, list())}})
          .add_node("node", [](const Value& s) { return Update{{"foo", s["bar"].size()}}; })
          .add_edge(START, "node")
          .compile();
  std::cout << dynamic.invoke({{"bar", {"x", "y"}}}) << '\n';  // {"foo":2,"bar":["x","y"]}
  // [/snippet dynamic]

  // [snippet delta]
  auto saver = std::make_shared<InMemorySaver>();
  auto chat = StateGraph<Value>({{"messages", delta(messages_delta_reducer)}})
                  .add_node("reply",
                            [](const Value&) {
                              return Update{
                                  {"messages", list({AIMessage{.content = "hello", .id = "a1"}})}};
                            })
                  .add_edge(START, "reply")
                  .compile({.checkpointer = saver});
  Config thread{.thread_id = "1"};
  chat.invoke({{"messages", list({HumanMessage{.content = "hi", .id = "h1"}})}}, thread);
  std::cout << chat.get_state(thread).values["messages"].size() << '\n';  // 2

  // The checkpoint does not hold the messages; the writes of its ancestors do.
  Checkpoint stored = saver->get_tuple({.thread_id = "1"})->checkpoint;
  std::cout << stored.channel_values << '\n';  // {}
  // [/snippet delta]
}
