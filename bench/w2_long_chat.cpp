#include <algorithm>

#include <clew/add_messages.hpp>
#include <clew/graph.hpp>

#include "report.hpp"
#include "samples.hpp"
#include "storage.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

constexpr std::size_t kTextSize = 500;

Update echo(const Value& state) {
  const Value& messages = state["messages"];
  const std::string turn(message_id(messages[messages.size() - 1])->substr(1));
  return {{"messages",
           list({AIMessage{.content = hexstr(turn + ":ai", kTextSize), .id = "a" + turn}})}};
}

StateGraph<> make_chat(const Options& options) {
  StateGraph<> graph({{"messages", options.variant == "delta" ? delta(messages_delta_reducer)
                                                              : reduced(add_messages, list())}});
  graph.add_node("echo", echo);
  graph.add_edge(START, "echo");
  graph.add_edge("echo", END);
  return graph;
}

Value question(int turn) {
  const std::string text = std::to_string(turn);
  return {{"messages",
           list({HumanMessage{.content = hexstr(text + ":human", kTextSize), .id = "h" + text}})}};
}

}  // namespace

void run_w2_long_chat(const Options& options) {
  const int turns = options.n ? options.n : 1000;
  const int some_turns = std::min(100, turns / 2);
  const StateGraph<> chat = make_chat(options);
  const Config thread = thread_config(options, "chat");
  Times all;
  Times first;
  Times last;
  Times reading;
  const auto disk = repeat(options, [&](const std::shared_ptr<Checkpointer>& checkpointer) {
    const CompiledGraph graph = chat.compile({.checkpointer = checkpointer});
    const auto talk = [&](int from, int to) {
      for (int turn = from; turn < to; ++turn) graph.invoke(question(turn), thread);
    };
    all.measure([&] {
      first.measure([&] { talk(0, some_turns); });
      talk(some_turns, turns - some_turns);
      last.measure([&] { talk(turns - some_turns, turns); });
    });
    StateSnapshot state;
    reading.measure([&] { state = graph.get_state(thread); });
    expect(state.values["messages"].size() == 2 * static_cast<std::size_t>(turns),
           "W2: the number of messages");
  });
  emit({.workload = "W2_chat_" + options.variant,
        .backend = options.backend,
        .n = turns,
        .times = all,
        .steps = 1,
        .bytes_on_disk = disk,
        .extra = {{"durability", options.durability},
                  {"total_s", rounded(median(all.wall), 3)},
                  {"first100_s", rounded(median(first.wall), 3)},
                  {"last100_s", rounded(median(last.wall), 3)},
                  {"get_state_ms", rounded(median(reading.wall) * 1e3, 2)}}});
}

}  // namespace clew::bench
