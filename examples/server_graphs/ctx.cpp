// ctx: how it speaks is given with each run.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct CtxState {
  std::string text;
  std::map<std::string, Value> seen;
};
CLEW_STATE(CtxState, text, seen)

struct Ctx {
  std::string tone = "plain";
  int times = 1;
};
CLEW_STATE(Ctx, tone, times)

namespace {

Update speak(const CtxState& state, Runtime& runtime) {
  const auto context = runtime.context<Ctx>();
  std::string text;
  for (int i = 0; i < context.times; ++i) {
    text += (i == 0 ? "" : " ") + context.tone + ":" + state.text;
  }
  return Update{{"text", text}};
}

StateGraph<CtxState> ctx() {
  return StateGraph<CtxState>()
      .context_schema<Ctx>()
      .add_node("speak", speak)
      .add_edge(START, "speak")
      .add_edge("speak", END);
}

}  // namespace

CLEW_GRAPH(ctx)
