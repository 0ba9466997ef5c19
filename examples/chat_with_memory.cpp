// A chat that remembers: what one thread learns about a user, another knows.
#include <filesystem>
#include <iostream>

#include <clew/clew.hpp>
#include <clew/sqlite_saver.hpp>
#include <clew/sqlite_store.hpp>

using namespace clew;

struct Chat {
  Value messages = list();
};
CLEW_STATE(Chat, reduced(messages, add_messages))

namespace {

Value last(const Value& messages) { return messages[messages.size() - 1]; }

// [snippet nodes]
// Whose memories they are says the run's context, or its config.
StoreNamespace memories_of(Runtime& runtime) {
  const Value& context = runtime.context();
  const Value& user = context.contains("user_id") ? context : runtime.config().configurable;
  return {user.get<std::string>("user_id"), "memories"};
}

void update_memory(const Chat& chat, Runtime& runtime) {
  const std::string text = message_text(last(chat.messages));
  if (text.find("I like") == std::string::npos) return;
  runtime.store()->put(memories_of(runtime), "likes", {{"memory", text}});
}

Update call_model(const Chat& chat, Runtime& runtime) {
  SearchOptions options{.query = message_text(last(chat.messages)), .limit = 3};
  std::string info;
  for (const SearchItem& memory : runtime.store()->search(memories_of(runtime), options)) {
    info += memory.value.get<std::string>("memory");
  }
  // A model would be called with `info` here.
  return Update{{"messages", AIMessage{.content = info.empty() ? "Hello" : "You said: " + info}}};
}
// [/snippet nodes]

}  // namespace

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "clew-chat-example";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "agent.db").string();

  // [snippet compile]
  auto graph =
      StateGraph<Chat>()
          .add_node("update_memory", update_memory)
          .add_node("call_model", call_model)
          .add_edge(START, "update_memory")
          .add_edge("update_memory", "call_model")
          .compile({.checkpointer = SqliteSaver::open(path), .store = SqliteStore::open(path)});
  // [/snippet compile]

  // [snippet threads]
  const auto say = [&graph](const std::string& text, const Config& config) {
    Value input{{"messages", list({{{"role", "user"}, {"content", text}}})}};
    for (const StreamEvent& event : graph.stream(input, config, {.modes = {StreamMode::updates}})) {
      const Value& reply = event.data["call_model"]["messages"];
      if (!reply.is_null()) std::cout << message_text(reply) << '\n';
    }
  };
  Value user{{"user_id", "1"}};
  say("hi", {.thread_id = "1", .configurable = user});                 // Hello
  say("I like pizza", {.thread_id = "1", .configurable = user});       // You said: I like pizza
  say("what do you know?", {.thread_id = "2", .configurable = user});  // You said: I like pizza

  say("what do you know?", {.thread_id = "3", .context = {{"user_id", "1"}}});  // the same
  say("what do you know?", {.thread_id = "4", .context = {{"user_id", "2"}}});  // Hello
  // [/snippet threads]
}
