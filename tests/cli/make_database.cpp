// Makes the database that the sessions look into: clew-cli-database FILE.
//
// A thread of each kind: a conversation, forked, waiting for an answer, failed, with
// a subgraph, with parallel tasks; and a memory store.
#include <algorithm>
#include <iostream>

#include <clew/clew.hpp>
#include <clew/sqlite_saver.hpp>
#include <clew/sqlite_store.hpp>

using namespace clew;

struct Trip {
  std::string place;
  std::string hotel;
  std::string booking;
};
CLEW_STATE(Trip, place, hotel, booking)

struct Chat {
  Value messages = list();
};
CLEW_STATE(Chat, reduced(messages, add_messages))

struct Survey {
  std::vector<std::string> topics;
  std::vector<std::string> notes;
  int count = 0;
};
CLEW_STATE(Survey, topics, reduced(notes, append), count)

namespace {

using Saver = std::shared_ptr<Checkpointer>;

StateGraph<Trip> trip_graph() {
  return StateGraph<Trip>()
      .add_node("choose", [](const Trip&) { return Update{{"place", "Rome"}}; })
      .add_node("search", [](const Trip& trip) { return Update{{"hotel", "Grand " + trip.place}}; })
      .add_node("book",
                [](const Trip& trip, Runtime& runtime) {
                  return Update{{"booking", runtime.interrupt("Book " + trip.hotel + "?")}};
                })
      .add_edge(START, "choose")
      .add_edge("choose", "search")
      .add_edge("search", "book");
}

Config thread_of(const std::string& id, const std::string& user) {
  return {.thread_id = id, .metadata = {{"user", user}}};
}

void make_chat(const Saver& saver) {
  const auto reply = [](const Chat& chat) {
    const Value& last = chat.messages[chat.messages.size() - 1];
    const std::string id = "reply-" + std::to_string(chat.messages.size());
    return Update{{"messages", list({object({{"role", "ai"},
                                             {"content", "You said: " + message_text(last)},
                                             {"id", id}})})}};
  };
  auto graph = StateGraph<Chat>()
                   .add_node("call_model", reply)
                   .add_edge(START, "call_model")
                   .compile({.checkpointer = saver});
  for (const std::string text : {"hi, I am Ada", "what is a clew?", "你好"}) {
    const Value message = object({{"role", "user"}, {"content", text}, {"id", "said-" + text}});
    graph.invoke({{"messages", list({message})}}, thread_of("chat", "ada"));
  }
}

void make_trips(const Saver& saver) {
  auto graph = trip_graph().compile({.checkpointer = saver});
  const Config paused = thread_of("paused", "bob");
  graph.invoke({{"place", ""}}, paused);

  const Config forked = thread_of("forked", "ada");
  graph.invoke({{"place", ""}}, forked);
  graph.invoke(Command{.resume = "yes"}, forked);
  std::optional<Config> before_search;
  for (const StateSnapshot& state : graph.get_state_history(forked)) {
    if (std::ranges::count(state.next, "search") > 0) before_search = state.config;
  }
  graph.invoke(nullptr, graph.update_state(*before_search, {{"place", "Oslo"}}));
  graph.invoke(Command{.resume = "no"}, forked);
}

void make_nested(const Saver& saver) {
  auto graph = StateGraph<Trip>()
                   .add_node("plan", trip_graph().compile())
                   .add_edge(START, "plan")
                   .compile({.checkpointer = saver});
  graph.invoke({{"place", ""}}, thread_of("nested", "bob"));
}

void make_survey(const Saver& saver) {
  const auto fan_out = [](const Survey& survey) {
    std::vector<Send> sends;
    for (const std::string& topic : survey.topics) sends.push_back({"study", {{"topic", topic}}});
    return sends;
  };
  const auto study = [](const Value& item) {
    const std::string topic = item.get<std::string>("topic");
    if (topic == "storms") throw NodeError("ValueError", "no book on " + topic);
    return Update{{"notes", list({topic + " studied"})}};
  };
  auto graph =
      StateGraph<Survey>()
          .add_node("study", study)
          .add_node("gather", [](const Survey& s) { return Update{{"count", s.notes.size()}}; })
          .add_conditional_edges(START, fan_out, {{{"study", "study"}}})
          .add_edge("study", "gather")
          .compile({.checkpointer = saver});
  graph.invoke({{"topics", {"tides", "moons"}}}, thread_of("parallel", "ada"));
  try {
    graph.invoke({{"topics", {"tides", "storms"}}}, thread_of("failed", "ada"));
  } catch (const NodeError&) {
    // That is how this thread ends.
  }
}

void make_store(const std::string& path) {
  const auto store = SqliteStore::open(path);
  store->put({"ada", "memories"}, "food", {{"text", "likes pizza"}, {"weight", 3}});
  store->put({"ada", "memories"}, "pet", {{"text", "has a cat"}, {"weight", 1}});
  store->put({"bob", "notes"}, "todo", {{"text", "water the plants"}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: clew-cli-database FILE\n";
    return 2;
  }
  const Saver saver = SqliteSaver::open(argv[1]);
  make_chat(saver);
  make_trips(saver);
  make_nested(saver);
  make_survey(saver);
  make_store(argv[1]);
}
