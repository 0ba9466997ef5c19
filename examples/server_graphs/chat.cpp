// chat: a stand-in for a chat model that streams its answer word by word.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct EchoState {
  Value messages = list();
};
CLEW_STATE(EchoState, reduced(messages, add_messages))

namespace {

// Each word but the last with the space that follows it.
std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> found;
  std::size_t begin = 0;
  while (true) {
    const std::size_t space = text.find(' ', begin);
    if (space == std::string::npos) break;
    found.push_back(text.substr(begin, space + 1 - begin));
    begin = space + 1;
  }
  found.push_back(text.substr(begin));
  return found;
}

// Says `text` on the stream of messages; the whole of it is returned.
AIMessage speak(const std::string& text, Runtime& runtime) {
  const std::string id = "lc_run--" + uuid4().to_string();
  const Value about{{"ls_provider", "wordmodel"}, {"ls_model_type", "chat"}};
  for (const std::string& piece : pieces(text)) {
    runtime.stream_message(AIMessageChunk{.content = piece, .id = id}, about);
  }
  runtime.stream_message(AIMessageChunk{.content = "", .id = id, .chunk_position = "last"}, about);
  return {.content = text, .id = id};
}

Update model(const EchoState& state, Runtime& runtime) {
  const std::string last = message_text(state.messages[state.messages.size() - 1]);
  return Update{{"messages", list({speak("you said: " + last, runtime)})}};
}

StateGraph<EchoState> chat() {
  return StateGraph<EchoState>()
      .add_node("model", model)
      .add_edge(START, "model")
      .add_edge("model", END);
}

}  // namespace

CLEW_GRAPH(chat)
