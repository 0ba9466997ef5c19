// echo: answers with what was said last.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct EchoState {
  Value messages = list();
};
CLEW_STATE(EchoState, reduced(messages, add_messages))

namespace {

Update answer(const EchoState& state) {
  const std::size_t count = state.messages.size();
  const AIMessage reply{.content = "echo: " + message_text(state.messages[count - 1]),
                        .id = "ai-" + std::to_string(count)};
  return Update{{"messages", list({reply})}};
}

StateGraph<EchoState> echo() {
  return StateGraph<EchoState>()
      .add_node("echo", answer)
      .add_edge(START, "echo")
      .add_edge("echo", END);
}

}  // namespace

CLEW_GRAPH(echo)
