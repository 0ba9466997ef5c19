#include "toy_graphs.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>
#include <map>

#include <clew/add_messages.hpp>
#include <clew/errors.hpp>
#include <clew/graph.hpp>
#include <clew/json.hpp>
#include <clew/messages.hpp>

namespace clew::server {
namespace {

using Strings = std::vector<std::string>;

struct SeqState {
  std::string value;
  Strings log;
};
CLEW_STATE(SeqState, value, reduced(log, append))

struct ApprovalState {
  std::string text;
  std::string answer;
  Strings log;
};
CLEW_STATE(ApprovalState, text, answer, reduced(log, append))

struct FailState {
  std::string value;
  bool boom = true;
};
CLEW_STATE(FailState, value, boom)

struct SlowState {
  int ticks = 3;
  double delay = 0.1;
  Strings done;
};
CLEW_STATE(SlowState, ticks, delay, reduced(done, append))

struct ParentState {
  std::string name;
  Strings log;
};
CLEW_STATE(ParentState, name, log)

struct NestedState {
  std::string name;
  Strings log;
};
CLEW_STATE(NestedState, name, reduced(log, append))

struct TwoAskState {
  Strings got;
};
CLEW_STATE(TwoAskState, reduced(got, append))

struct EchoState {
  Value messages = list();
};
CLEW_STATE(EchoState, reduced(messages, add_messages))

struct FanState {
  std::string name;
  Strings log;
};
CLEW_STATE(FanState, name, reduced(log, append))

struct TracedState {
  std::string file;
  Strings log;
};
CLEW_STATE(TracedState, file, reduced(log, append))

struct CtxState {
  std::string text;
};
CLEW_STATE(CtxState, text)

struct Tone {
  std::string tone = "plain";
  int times = 1;
};
CLEW_STATE(Tone, tone, times)

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string stripped(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string answer_text(const Value& answer) {
  return answer.is_string() ? answer.get<std::string>() : to_json(answer, {.sort_keys = true});
}

CompiledGraph make_seq(const CompileOptions& options) {
  StateGraph<SeqState> graph;
  for (const std::string letter : {"a", "b", "c"}) {
    graph.add_node(letter, [letter](const SeqState& state) {
      return Update{{"value", state.value + letter}, {"log", list({letter})}};
    });
  }
  return graph.add_edge(START, "a")
      .add_edge("a", "b")
      .add_edge("b", "c")
      .add_edge("c", END)
      .compile(options);
}

CompiledGraph make_approval(const CompileOptions& options) {
  return StateGraph<ApprovalState>()
      .add_node("draft",
                [](const ApprovalState& state) {
                  return Update{{"text", upper(state.text)}, {"log", list({"draft"})}};
                })
      .add_node("ask",
                [](const ApprovalState& state, Runtime& runtime) {
                  const Value answer =
                      runtime.interrupt(object({{"question", "approve " + state.text + "?"}}));
                  return Update{{"answer", answer_text(answer)}, {"log", list({"ask"})}};
                })
      .add_node("finish",
                [](const ApprovalState& state) {
                  return Update{{"text", state.text + ":" + state.answer},
                                {"log", list({"finish"})}};
                })
      .add_edge(START, "draft")
      .add_edge("draft", "ask")
      .add_edge("ask", "finish")
      .add_edge("finish", END)
      .compile(options);
}

CompiledGraph make_fail(const CompileOptions& options) {
  return StateGraph<FailState>()
      .add_node("ok_step",
                [](const FailState& state) { return Update{{"value", state.value + "ok"}}; })
      .add_node("maybe_boom",
                [](const FailState& state) {
                  if (state.boom) throw NodeError("ValueError", "boom at maybe_boom");
                  return Update{{"value", state.value + "+survived"}};
                })
      .add_edge(START, "ok_step")
      .add_edge("ok_step", "maybe_boom")
      .add_edge("maybe_boom", END)
      .compile(options);
}

// Sleeps in short pieces, so that it ends soon after it is asked to.
Task<void> doze(Runtime& runtime, double seconds) {
  using namespace std::chrono;
  const auto end = steady_clock::now() + duration<double>(seconds);
  while (steady_clock::now() < end) {
    if (runtime.stop_token().stop_requested()) throw Cancelled("stopped while asleep");
    const auto left = duration_cast<nanoseconds>(end - steady_clock::now());
    Task<void> piece = runtime.sleep(std::min<nanoseconds>(left, milliseconds(5)));
    co_await std::move(piece);
  }
}

CompiledGraph make_slow(const CompileOptions& options) {
  return StateGraph<SlowState>()
      .add_node("work",
                [](const SlowState& state, Runtime& runtime) -> Task<Update> {
                  const int ticks = state.ticks;
                  const double delay = state.delay;
                  for (int i = 0; i < ticks; ++i) {
                    Task<void> sleep = doze(runtime, delay);
                    co_await std::move(sleep);
                    runtime.stream_writer(object({{"tick", i}}));
                  }
                  Update update;
                  update.set("done", list({"work:" + std::to_string(ticks)}));
                  co_return update;
                })
      .add_node("end", [](const SlowState&) { return Update{{"done", list({"end"})}}; })
      .add_edge(START, "work")
      .add_edge("work", "end")
      .add_edge("end", END)
      .compile(options);
}

CompiledGraph make_nested(const CompileOptions& options) {
  const CompiledGraph child =
      StateGraph<NestedState>()
          .add_node("child_greet",
                    [](const NestedState& state) {
                      return Update{{"log", list({"child_greet:" + state.name})}};
                    })
          .add_node("child_ask",
                    [](const NestedState& state, Runtime& runtime) {
                      const Value color = runtime.interrupt("color for " + state.name + "?");
                      return Update{{"name", state.name + "-" + answer_text(color)},
                                    {"log", list({"child_ask"})}};
                    })
          .add_edge(START, "child_greet")
          .add_edge("child_greet", "child_ask")
          .add_edge("child_ask", END)
          .compile();
  return StateGraph<ParentState>()
      .add_node("before",
                [](const ParentState& state) { return Update{{"name", stripped(state.name)}}; })
      .add_node("child", child)
      .add_node("after",
                [](const ParentState& state) { return Update{{"name", state.name + "!"}}; })
      .add_edge(START, "before")
      .add_edge("before", "child")
      .add_edge("child", "after")
      .add_edge("after", END)
      .compile(options);
}

CompiledGraph make_two_asks(const CompileOptions& options) {
  StateGraph<TwoAskState> graph;
  for (const std::string side : {"left", "right"}) {
    graph.add_node(side, [side](const TwoAskState&, Runtime& runtime) {
      const Value answer = runtime.interrupt(object({{"who", side}}));
      return Update{{"got", list({side + "=" + answer_text(answer)})}};
    });
    graph.add_edge(START, side).add_edge(side, END);
  }
  return graph.compile(options);
}

CompiledGraph make_echo(const CompileOptions& options) {
  return StateGraph<EchoState>()
      .add_node("echo",
                [](const EchoState& state) {
                  const std::size_t count = state.messages.size();
                  AIMessage reply;
                  reply.content = "echo: " + message_text(state.messages[count - 1]);
                  reply.id = "ai-" + std::to_string(count);
                  return Update{{"messages", list({Value(reply)})}};
                })
      .add_edge(START, "echo")
      .add_edge("echo", END)
      .compile(options);
}

CompiledGraph make_ctx(const CompileOptions& options) {
  return StateGraph<CtxState>()
      .context_schema<Tone>()
      .add_node(
          "speak",
          [](const CtxState& state, Runtime& runtime) {
            const Value& tone = runtime.context()["tone"];
            const Value& dropped = runtime.context()["dropped"];
            return Update{{"text", (tone.is_string() ? tone.get<std::string>() : "plain") + ":" +
                                       state.text + (dropped.is_null() ? "" : " undropped")}};
          })
      .add_edge(START, "speak")
      .add_edge("speak", END)
      .compile(options);
}

// Tells what it does: the same as its siblings, something of its own, and a message in chunks.
Task<Update> tell(Runtime& runtime, std::string name, int ticks) {
  using namespace std::chrono;
  runtime.stream_writer(object({{"state", "begun"}}));
  for (int i = 0; i < ticks; ++i) {
    // Siblings come in another order each time.
    const auto jitter = steady_clock::now().time_since_epoch() / microseconds(1) * 7919 % 1500;
    Task<void> sleep = runtime.sleep(microseconds(jitter));
    co_await std::move(sleep);
    runtime.stream_writer(object({{"from", name}, {"tick", i}}));
    AIMessageChunk chunk;
    chunk.content = "word" + std::to_string(i) + " ";
    chunk.id = "message of " + name;
    runtime.stream_message(Value(chunk));
  }
  Update update;
  update.set("log", list({name}));
  co_return update;
}

CompiledGraph make_fan(const CompileOptions& options) {
  StateGraph<FanState> graph;
  graph.add_node("split", [](const FanState&) { return Update{{"log", list({"split"})}}; });
  graph.add_node("join",
                 [](const FanState&, Runtime& runtime) { return tell(runtime, "join", 2); });
  graph.add_edge(START, "split").add_edge("join", END);
  Strings workers;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "worker" + std::to_string(i);
    graph.add_node(
        name, [name, i](const FanState&, Runtime& runtime) { return tell(runtime, name, i + 1); });
    graph.add_edge("split", name);
    workers.push_back(name);
  }
  graph.add_edge(workers, "join");
  return graph.compile(options);
}

CompiledGraph make_deep(const CompileOptions& options) {
  StateGraph<FanState> child;
  for (const std::string name : {"first", "second"}) {
    child.add_node(name,
                   [name](const FanState&, Runtime& runtime) { return tell(runtime, name, 2); });
  }
  child.add_edge(START, "first").add_edge("first", "second").add_edge("second", END);
  return StateGraph<FanState>()
      .add_node("before",
                [](const FanState&, Runtime& runtime) { return tell(runtime, "before", 1); })
      .add_node("child", child.compile())
      .add_node("after",
                [](const FanState&, Runtime& runtime) { return tell(runtime, "after", 1); })
      .add_edge(START, "before")
      .add_edge("before", "child")
      .add_edge("child", "after")
      .add_edge("after", END)
      .compile(options);
}

// Each node writes down that it was executed.
CompiledGraph make_traced(const CompileOptions& options) {
  StateGraph<TracedState> graph;
  for (const std::string name : {"a", "b", "c", "d"}) {
    graph.add_node(name, [name](const TracedState& state, Runtime& runtime) {
      std::ofstream(state.file, std::ios::app) << runtime.config().thread_id + " " + name + "\n"
                                               << std::flush;
      return Update{{"log", list({name})}};
    });
  }
  return graph.add_edge(START, "a")
      .add_edge("a", "b")
      .add_edge("b", "c")
      .add_edge("c", "d")
      .add_edge("d", END)
      .compile(options);
}

}  // namespace

std::shared_ptr<GraphRegistry> make_toy_graphs(std::shared_ptr<Checkpointer> checkpointer,
                                               std::shared_ptr<Store> store) {
  CompileOptions options;
  options.checkpointer = std::move(checkpointer);
  options.store = std::move(store);
  auto graphs = std::make_shared<GraphRegistry>(std::move(options));
  graphs->add("echo", make_echo);
  graphs->add("seq", make_seq);
  graphs->add("approval", make_approval);
  graphs->add("nested", make_nested);
  graphs->add("two_asks", make_two_asks);
  graphs->add("fail", make_fail);
  graphs->add("slow", make_slow);
  graphs->add("ctx", make_ctx);
  graphs->add("fan", make_fan);
  graphs->add("deep", make_deep);
  graphs->add("traced", make_traced);
  return graphs;
}

}  // namespace clew::server
