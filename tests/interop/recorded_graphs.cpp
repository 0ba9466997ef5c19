#include "recorded_graphs.hpp"

#include <mutex>
#include <optional>
#include <vector>

#include <clew/add_messages.hpp>
#include <clew/functional.hpp>
#include <clew/graph.hpp>
#include <clew/messages.hpp>

namespace clew::interop {
namespace {

using Saver = std::shared_ptr<Checkpointer>;
using Graph = StateGraph<Value>;

// ---- Pieces

// Nodes of a step run at once.
void count(Runs& runs, const std::string& node) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  ++runs[node];
}

std::int64_t number(const Value& value) { return value.is_null() ? 0 : value.as_int(); }

// {log: list, concatenated; n: last value}
Graph log_graph() { return Graph({{"log", reduced(append, list())}, {"n", last_value()}}); }

// Returns {log: [name], n: n + 1}.
auto step(std::string name, Runs& runs) {
  return [name = std::move(name), &runs](const Value& state) {
    count(runs, name);
    return Update{{"log", list({name})}, {"n", number(state["n"]) + 1}};
  };
}

// Returns {log: [name]}.
auto mark(std::string name, Runs& runs) {
  return [name = std::move(name), &runs](const Value&) {
    count(runs, name);
    return Update{{"log", list({name})}};
  };
}

// The config of the oldest state whose next node is this one.
Config oldest_before(const CompiledGraph& graph, const Config& thread, const std::string& node) {
  std::optional<Config> oldest;
  for (const StateSnapshot& state : graph.get_state_history(thread)) {
    if (state.next == std::vector<std::string>{node}) oldest = state.config;
  }
  return oldest.value();
}

Value text(const Value& a, const Value& b) {
  return std::string(a.as_string()) + std::string(b.as_string());
}

// ---- Continuations

using Continuation = std::function<Value(const CompiledGraph&, const Config&)>;

Continuation invoke(Value input) {
  return [input](const CompiledGraph& graph, const Config& config) {
    return graph.invoke(input, config);
  };
}

Continuation resume(Value answer) { return invoke(Command{.resume = std::move(answer)}); }

Continuation invoke_at_exit(Value input) {
  return [input](const CompiledGraph& graph, const Config& config) {
    Config at_exit = config;
    at_exit.durability = Durability::exit;
    return graph.invoke(input, at_exit);
  };
}

Continuation replay_before(std::string node) {
  return [node](const CompiledGraph& graph, const Config& config) {
    return graph.invoke(nullptr, oldest_before(graph, config, node));
  };
}

Continuation both(Continuation first, Continuation second) {
  return [first, second](const CompiledGraph& graph, const Config& config) {
    const Value before = first(graph, config);
    return list({before, second(graph, config)});
  };
}

// Answers every open question by its id.
Continuation answer_by_id(std::function<Value(const Value& question)> answer) {
  return [answer](const CompiledGraph& graph, const Config& config) {
    ObjectBuilder answers;
    for (const Interrupt& interrupt : graph.get_state(config).interrupts) {
      answers.set(interrupt.id, answer(interrupt.value));
    }
    return graph.invoke(Command{.resume = std::move(answers).build()}, config);
  };
}

// ---- Graphs

auto chain(std::vector<std::string> names, CompileOptions options = {}) {
  return [names, options](const Saver& saver, Runs& runs) {
    Graph graph = log_graph();
    std::string previous = START;
    for (const std::string& name : names) {
      graph.add_node(name, step(name, runs));
      graph.add_edge(previous, name);
      previous = name;
    }
    CompileOptions with_saver = options;
    with_saver.checkpointer = saver;
    return graph.compile(with_saver);
  };
}

CompiledGraph asks(const Saver& saver, Runs& runs) {
  const auto ask = [&runs](const Value& state, Runtime& runtime) {
    count(runs, "ask");
    const Value x = runtime.interrupt("q1");
    const Value y = runtime.interrupt({{"q", "q2"}, {"got", x}});
    return Update{{"log", list({x, y})}, {"n", number(state["n"]) + 1}};
  };
  return log_graph()
      .add_node("pre", step("pre", runs))
      .add_node("ask", ask)
      .add_node("post", step("post", runs))
      .add_edge(START, "pre")
      .add_edge("pre", "ask")
      .add_edge("ask", "post")
      .compile({.checkpointer = saver});
}

CompiledGraph two_asks(const Saver& saver, Runs& runs) {
  Graph graph = log_graph();
  for (const std::string name : {"left", "right"}) {
    graph.add_node(name, [name, &runs](const Value&, Runtime& runtime) {
      count(runs, name);
      return Update{{"log", list({text(name + ":", runtime.interrupt(name + "?"))})}};
    });
    graph.add_edge(START, name);
  }
  return graph.add_node("join", step("join", runs))
      .add_edge({"left", "right"}, "join")
      .compile({.checkpointer = saver});
}

CompiledGraph repaired(const Saver& saver, Runs& runs) {
  return log_graph()
      .add_node("ok", step("ok", runs))
      .add_node("boom", [](const Value&) { return Update{{"log", {"boom-ok"}}}; })
      .add_node("end", step("end", runs))
      .add_edge(START, "ok")
      .add_edge(START, "boom")
      .add_edge({"ok", "boom"}, "end")
      .compile({.checkpointer = saver});
}

CompiledGraph asking_subgraph(const Saver& saver, Runs& runs) {
  const auto s2 = [](const Value& state, Runtime& runtime) {
    const Value answer = runtime.interrupt("sub?");
    return Update{{"log", list({text("s2:", answer)})}, {"n", number(state["n"]) + 10}};
  };
  const CompiledGraph child = log_graph()
                                  .add_node("s1", step("s1", runs))
                                  .add_node("s2", s2)
                                  .add_edge(START, "s1")
                                  .add_edge("s1", "s2")
                                  .compile();
  return log_graph()
      .add_node("p1", step("p1", runs))
      .add_node("sub", child)
      .add_node("p2", step("p2", runs))
      .add_edge(START, "p1")
      .add_edge("p1", "sub")
      .add_edge("sub", "p2")
      .compile({.checkpointer = saver});
}

CompiledGraph one_step_child(Runs& runs, SubgraphPersistence persistence) {
  CompileOptions options;
  options.subgraph_persistence = persistence;
  return log_graph().add_node("s1", step("s1", runs)).add_edge(START, "s1").compile(options);
}

CompiledGraph calls_stateful_child(const Saver& saver, Runs& runs) {
  const CompiledGraph child = one_step_child(runs, SubgraphPersistence::own);
  const auto call = [child](const Value& state, Runtime& runtime) {
    const Value result = child.invoke({{"log", {"call"}}, {"n", number(state["n"])}}, runtime);
    const std::string length = std::to_string(result["log"].size());
    return Update{{"log", list({"child-log-len=" + length})}, {"n", result["n"]}};
  };
  return log_graph()
      .add_node("call", call, {.calls = {child}})
      .add_edge(START, "call")
      .compile({.checkpointer = saver});
}

CompiledGraph calls_child_twice(const Saver& saver, Runs& runs) {
  const CompiledGraph child = one_step_child(runs, SubgraphPersistence::inherit);
  const auto call = [child](const Value&, Runtime& runtime) {
    const Value first = child.invoke({{"log", {"one"}}, {"n", 1}}, runtime);
    const Value second = child.invoke({{"log", {"two"}}, {"n", first["n"]}}, runtime);
    return Update{{"log", first["log"].concat(second["log"])}, {"n", second["n"]}};
  };
  return log_graph()
      .add_node("call", call, {.calls = {child}})
      .add_edge(START, "call")
      .compile({.checkpointer = saver});
}

const Value& last_message(const Value& state) {
  const Value& messages = state["messages"];
  return messages[messages.size() - 1];
}

Update talk(const Value& state) {
  const Value& last = last_message(state);
  const std::string id(message_id(last).value());
  AIMessage reply;
  if (message_type(last) == "human") {
    reply.id = "ai-call-" + id;
    reply.tool_calls = {
        {.name = "lookup", .args = {{"q", message_text(last)}}, .id = "call-" + id}};
  } else {
    reply.content = "answer: " + message_text(last);
    reply.id = "ai-" + id;
    reply.usage_metadata = {.input_tokens = 1, .output_tokens = 2, .total_tokens = 3};
  }
  return Update{{"messages", list({reply})}};
}

Update look_up(const Value& state) {
  const ToolCall call = message_tool_calls(last_message(state)).front();
  const ToolMessage found{.content = "found " + std::string(call.args["q"].as_string()),
                          .name = "lookup",
                          .id = "tool-" + call.id.value(),
                          .tool_call_id = call.id.value()};
  return Update{{"messages", list({found})}};
}

CompiledGraph chat(const Saver& saver, Runs&) {
  const auto route = [](const Value& state) -> std::string {
    return message_tool_calls(last_message(state)).empty() ? END : "tools";
  };
  return Graph({{"messages", reduced(add_messages, list())}})
      .add_node("agent", talk)
      .add_node("tools", look_up)
      .add_edge(START, "agent")
      .add_conditional_edges("agent", route, {{{"tools", "tools"}, {END, END}}})
      .add_edge("tools", "agent")
      .compile({.checkpointer = saver});
}

Value human(const std::string& content, const std::string& id) {
  return {{"messages", list({HumanMessage{.content = content, .id = id}})}};
}

Value concatenate(const Value& current, std::span<const Value> writes) {
  Value result = current;
  for (const Value& write : writes) result = result.concat(write);
  return result;
}

Graph items_graph(int snapshot_frequency) {
  return Graph({{"items", delta(concatenate, list(), snapshot_frequency)}, {"n", last_value()}});
}

auto items_step(const std::string& name, bool counts = true) {
  return [name, counts](const Value& state) {
    Update update{{"items", list({name, state["items"].size()})}};
    if (counts) update.set("n", number(state["n"]) + 1);
    return update;
  };
}

CompiledGraph delta_chain(const Saver& saver, Runs&) {
  return items_graph(3)
      .add_node("x", items_step("x"))
      .add_node("y", items_step("y"))
      .add_edge(START, "x")
      .add_edge("x", "y")
      .compile({.checkpointer = saver});
}

CompiledGraph delta_join(const Saver& saver, Runs&) {
  return items_graph(100)
      .add_node("x", items_step("x"))
      .add_node("y", items_step("y", /*counts=*/false))
      .add_node("z", items_step("z"))
      .add_edge(START, "x")
      .add_edge(START, "y")
      .add_edge({"x", "y"}, "z")
      .compile({.checkpointer = saver});
}

CompiledGraph fan_out(const Saver& saver, Runs& runs) {
  const auto plan = [](const Value&) {
    std::vector<Send> sends;
    for (int k = 1; k <= 3; ++k) sends.push_back({"work", {{"k", k}}});
    return sends;
  };
  const auto work = [&runs](const Value& input) {
    const std::string name = "w" + std::to_string(input["k"].as_int());
    count(runs, name);
    return Update{{"log", list({name})}};
  };
  return log_graph()
      .add_node("start", step("start", runs))
      .add_node("work", work)
      .add_node("sum", [](const Value& state) { return Update{{"n", state["log"].size()}}; })
      .add_edge(START, "start")
      .add_conditional_edges("start", plan, {{{"work", "work"}}})
      .add_edge("work", "sum")
      .compile({.checkpointer = saver});
}

CompiledGraph half_joined(const Saver& saver, Runs& runs) {
  Graph graph = log_graph();
  for (const std::string name : {"a", "b1", "b2", "c"}) graph.add_node(name, mark(name, runs));
  return graph.add_node("late", mark("late", runs), {.defer = true})
      .add_edge(START, "a")
      .add_edge(START, "b1")
      .add_edge("b1", "b2")
      .add_edge({"a", "b2"}, "c")
      .add_edge("a", "late")
      .compile({.checkpointer = saver, .interrupt_before = {"b2"}});
}

CompiledGraph workflow(const Saver& saver, Runs& runs) {
  const auto twice = task("double", [&runs](const Value& x) {
    count(runs, "double");
    return Value(x.as_int() * 2);
  });
  const auto total = task("total", [&runs](const Value& numbers) {
    count(runs, "total");
    std::int64_t sum = 0;
    for (const Value& number : numbers) sum += number.as_int();
    return Value(sum);
  });
  const auto flow = [twice, total](const Value& input, Runtime& runtime) {
    std::vector<Future> futures;
    for (const Value& x : input["xs"]) futures.push_back(twice(runtime, x));
    ListBuilder doubled;
    for (const Future& future : futures) doubled.push_back(future.result());
    std::int64_t sum = total(runtime, std::move(doubled).build()).result().as_int();
    if (input["ask"] == Value(true)) sum += runtime.interrupt({{"total", sum}}).as_int();
    return Final{{{"total", sum}, {"previous", runtime.previous()}}, sum};
  };
  return entrypoint("flow", flow, {.checkpointer = saver});
}

CompiledGraph many_types(const Saver& saver, Runs&) {
  Graph graph({{"when", last_value()},
               {"ident", last_value()},
               {"tags", last_value()},
               {"money", last_value()},
               {"dc", last_value()},
               {"pyd", last_value()},
               {"enum", last_value()},
               {"raw", last_value()},
               {"delta", last_value()},
               {"pt", last_value()},
               {"none", last_value()},
               {"flag", last_value()},
               {"num", last_value()},
               {"flt", last_value()},
               {"text", last_value()},
               {"nested", last_value()},
               {"lst", last_value()}});
  const auto t = [](const Value& state) {
    return Update{{"num", state["num"].as_int() + 1}, {"text", text(state["text"], "!")}};
  };
  return graph.add_node("t", t).add_edge(START, "t").compile({.checkpointer = saver});
}

CompiledGraph commands(const Saver& saver, Runs& runs) {
  const auto router = [](const Value& state) {
    return Command{.update = {{"log", {"router"}}},
                   .goto_ = {number(state["n"]) > 5 ? "right" : "left"}};
  };
  return log_graph()
      .add_node("router", router, {.destinations = {"left", "right"}})
      .add_node("left", mark("left", runs))
      .add_node("right", mark("right", runs))
      .add_edge(START, "router")
      .compile({.checkpointer = saver, .interrupt_before = {"left", "right"}});
}

CompiledGraph root_list(const Saver& saver, Runs&) {
  return Graph({{"__root__", reduced(append, list())}})
      .add_node("r1", [](const Value& state) { return list({state.size()}); })
      .add_node("r2", [](const Value&) { return list({"r2"}); })
      .add_edge(START, "r1")
      .add_edge("r1", "r2")
      .compile({.checkpointer = saver});
}

std::map<std::string, RecordedGraph> make_recorded_graphs() {
  const auto abc = chain({"a", "b", "c"});
  const CompileOptions around_b{.interrupt_before = {"b"}, .interrupt_after = {"b"}};
  const CompileOptions before_b{.interrupt_before = {"b"}};
  const Continuation go_on = invoke(nullptr);
  const Continuation more = invoke({{"items", {"more"}}});
  const Continuation more_exit = invoke_at_exit({{"items", {"more"}}});
  const auto initial = [](const Value& question) {
    return Value(question.as_string().front() == 'l' ? "L" : "R");
  };
  return {
      {"linear", {abc, {{"third_run", invoke({{"log", {"third"}}})}}}},
      {"forked", {abc, {{"go_on", go_on}, {"time_travel", replay_before("a")}}}},
      {"static",
       {chain({"a", "b", "c"}, around_b),
        {{"resume", go_on}, {"resume_twice", both(go_on, go_on)}}}},
      {"ask-first",
       {asks,
        {{"answer_both", both(resume("A1"), resume("A2"))},
         {"answer_with_update", invoke(Command{.update = {{"n", 50}}, .resume = "A1"})}}}},
      {"ask-second",
       {asks,
        {{"answer", resume("A2")},
         {"answer_by_id", answer_by_id([](const Value&) { return "A2"; })},
         {"new_input_instead", invoke({{"log", {"fresh"}}})}}}},
      {"ask-done", {asks, {{"replay_ask", replay_before("ask")}}}},
      {"par-both", {two_asks, {{"answer_map", answer_by_id(initial)}}}},
      {"par-one", {two_asks, {{"answer_rest", resume("R")}}}},
      {"failed", {repaired, {{"repair", go_on}}}},
      {"sub-pending", {asking_subgraph, {{"answer", resume("yes")}}}},
      {"sub-done", {asking_subgraph, {{"replay_sub", replay_before("sub")}}}},
      {"sub-stateful", {calls_stateful_child, {{"third", invoke({{"log", {"in3"}}, {"n", 7}})}}}},
      {"sub-twice", {calls_child_twice}},
      {"messages", {chat, {{"next_turn", invoke(human("birds", "h3"))}}}},
      {"encrypted", {chain({"a", "b"}, before_b), {{"resume", go_on}}}},
      {"encrypted-messages", {chat, {{"next_turn", invoke(human("more", "h2"))}}}},
      {"delta", {delta_chain, {{"more", more}}}},
      {"delta-fork", {delta_chain, {{"more", more}}}},
      {"delta-exit", {delta_chain, {{"more", more}}}},
      {"delta-overwrite", {delta_chain, {{"more", more}}}},
      {"delta-long", {delta_join, {{"more", more}, {"more_exit", more_exit}}}},
      {"delta-exit-long", {delta_join, {{"more", more}, {"more_exit", more_exit}}}},
      {"delta-migrated", {delta_chain, {{"more", more}}}},
      {"fanout-failed", {fan_out, {{"repair", go_on}}}},
      {"fanout-done", {fan_out}},
      {"join", {half_joined, {{"resume", go_on}}}},
      {"functional", {workflow, {{"answer", resume(100)}}}},
      {"types", {many_types, {{"again", invoke({{"num", 1}})}}}},
      {"command", {commands, {{"resume", go_on}}}},
      {"command-goto", {commands, {{"resume", go_on}}}},
      {"exit-mode", {asks, {{"answer_both", both(resume("A1"), resume("A2"))}}}},
      {"exit-plain", {abc, {{"again", invoke({{"log", {"again"}}})}}}},
      {"update-fresh", {abc}},
      {"update-input", {abc, {{"go", go_on}}}},
      {"update-end", {chain({"a", "b", "c"}, before_b)}},
      {"root", {root_list, {{"again", invoke(list({"z"}))}}}},
      {"metadata", {chain({"a"})}},
  };
}

}  // namespace

const std::map<std::string, RecordedGraph>& recorded_graphs() {
  static const std::map<std::string, RecordedGraph> graphs = make_recorded_graphs();
  return graphs;
}

}  // namespace clew::interop
