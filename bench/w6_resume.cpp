#include <algorithm>

#include <clew/graph.hpp>

#include "report.hpp"
#include "samples.hpp"
#include "storage.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

struct Talk {
  std::string a;
  std::string answer;
};
CLEW_STATE(Talk, a, answer)

StateGraph<Talk> make_talk() {
  StateGraph<Talk> graph;
  graph.add_node("before", [](const Talk&) { return Update{{"a", "ready"}}; });
  graph.add_node("ask", [](const Talk&, Runtime& runtime) {
    return Update{{"answer", runtime.interrupt({{"q", "go?"}})}};
  });
  graph.add_node("after", [](const Talk&) { return Update{{"a", "done"}}; });
  graph.add_edge(START, "before");
  graph.add_edge("before", "ask");
  graph.add_edge("ask", "after");
  graph.add_edge("after", END);
  return graph;
}

void interrupt_and_resume(const Options& options) {
  const int threads = options.n ? options.n : 1000;
  const StateGraph<Talk> talk = make_talk();
  Times interrupting;
  Times resuming;
  Value commits;
  const auto disk = repeat(options, [&](const std::shared_ptr<Checkpointer>& checkpointer) {
    const CompiledGraph graph = talk.compile({.checkpointer = checkpointer});
    interrupting.measure([&] {
      for (int i = 0; i < threads; ++i) {
        graph.invoke({{"a", ""}, {"answer", ""}}, thread_config(options, i));
      }
    });
    Value result;
    const Value before = commits_of(checkpointer.get());
    resuming.measure([&] {
      for (int i = 0; i < threads; ++i) {
        result = graph.invoke(Command{.resume = "yes"}, thread_config(options, i));
      }
    });
    expect(result == Value{{"a", "done"}, {"answer", "yes"}}, "W6: the resumed result");
    commits = commits_since(before, checkpointer.get());
  });
  const Value durability = object({{"durability", options.durability}});
  emit({.workload = "W6_interrupt",
        .backend = options.backend,
        .n = threads,
        .times = interrupting,
        .steps = 2,
        .extra = durability});
  emit({.workload = "W6_resume",
        .backend = options.backend,
        .n = threads,
        .times = resuming,
        .steps = 2,
        .bytes_on_disk = disk,
        .extra = durability.set("commits", commits)});
}

struct Clock {
  int n = 0;
  std::string note;
};
CLEW_STATE(Clock, n, note)

constexpr int kTicks = 998;
constexpr int kCheckpoints = kTicks + 2;

StateGraph<Clock> make_clock() {
  StateGraph<Clock> graph;
  graph.add_node("tick", [](const Clock& clock) {
    return Update{{"n", clock.n + 1}, {"note", hexstr("tick" + std::to_string(clock.n), 100)}};
  });
  graph.add_edge(START, "tick");
  graph.add_conditional_edges("tick",
                              [](const Clock& clock) { return clock.n >= kTicks ? END : "tick"; },
                              {{{"tick", "tick"}, {END, END}}});
  return graph;
}

// What langgraph/bench.py takes for the 99th percentile.
double p99(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() * 99 / 100 - 1];
}

void read_long_thread(Options options) {
  options.repeat = std::max(1, options.repeat - 1);
  const StateGraph<Clock> clock = make_clock();
  const Config thread = thread_config(options, "long");
  Times looping;
  Times reading;
  Times walking;
  const auto disk = repeat(options, [&](const std::shared_ptr<Checkpointer>& checkpointer) {
    const CompiledGraph graph = clock.compile({.checkpointer = checkpointer});
    looping.measure([&] { graph.invoke({{"n", 0}, {"note", ""}}, thread); });
    StateSnapshot state;
    for (int i = 0; i < 50; ++i) reading.measure([&] { state = graph.get_state(thread); });
    expect(state.values.get<int>("n") == kTicks, "W6: the state of the long thread");
    std::size_t walked = 0;
    walking.measure([&] {
      for (const StateSnapshot& snapshot : graph.get_state_history(thread)) {
        walked += snapshot.metadata.is_object() ? 1 : 0;
      }
    });
    expect(walked == kCheckpoints, "W6: the history of the long thread");
  });
  emit({.workload = "W6_loop998",
        .backend = options.backend,
        .times = looping,
        .steps = kTicks,
        .bytes_on_disk = disk,
        .extra = object({{"durability", options.durability}})});
  emit({.workload = "W6_get_state_1000cp",
        .backend = options.backend,
        .times = {.wall = {median(reading.wall)}, .cpu = {}},
        .extra = object({{"p99_us", rounded(p99(reading.wall) * 1e6, 1)}})});
  emit({.workload = "W6_history_1000cp",
        .backend = options.backend,
        .n = kCheckpoints,
        .times = walking});
}

}  // namespace

void run_w6_resume(const Options& options) {
  interrupt_and_resume(options);
  read_long_thread(options);
}

}  // namespace clew::bench
