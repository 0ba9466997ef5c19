// approval: asks a person before it goes on.
#include <cctype>

#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct ApprovalState {
  std::string text;
  std::string answer;
  std::vector<std::string> log;
};
CLEW_STATE(ApprovalState, text, answer, reduced(log, append))

namespace {

Update draft(const ApprovalState& state) {
  std::string text = state.text;
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return Update{{"text", text}, {"log", list({"draft"})}};
}

Update ask(const ApprovalState& state, Runtime& runtime) {
  Value answer = runtime.interrupt({{"question", "approve " + state.text + "?"}});
  if (!answer.is_string()) answer = to_json(answer, {.sort_keys = true});
  return Update{{"answer", answer}, {"log", list({"ask"})}};
}

Update finish(const ApprovalState& state) {
  return Update{{"text", state.text + ":" + state.answer}, {"log", list({"finish"})}};
}

StateGraph<ApprovalState> approval() {
  return StateGraph<ApprovalState>()
      .add_node("draft", draft)
      .add_node("ask", ask)
      .add_node("finish", finish)
      .add_edge(START, "draft")
      .add_edge("draft", "ask")
      .add_edge("ask", "finish")
      .add_edge("finish", END);
}

}  // namespace

CLEW_GRAPH(approval)
