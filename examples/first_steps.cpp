// The foundation in one page: values, JSON, structs, and LangGraph's stored form.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

// [snippet state]
struct State {
  std::string foo;
  std::vector<std::string> bar;
};
CLEW_STATE(State, foo, reduced(bar, append))
// [/snippet state]

int main() {
  // [snippet value]
  Value before{{"foo", "a"}, {"bar", {"x", 1, nullptr}}};
  Value after = before.set("bar", before["bar"].append("y"));

  std::cout << before << '\n';  // {"foo":"a","bar":["x",1,null]}
  std::cout << after << '\n';   // {"foo":"a","bar":["x",1,null,"y"]}

  try {
    after.get<std::string>("bar", 1);
  } catch (const ValueError& error) {
    std::cout << error.what() << '\n';  // $.bar[1]: expected string, found int
  }
  // [/snippet value]

  // [snippet struct]
  State state{.foo = "b", .bar = {"x", "y"}};
  Value as_value = state;
  State again = as_value.get<State>();
  std::cout << as_value << ' ' << again.bar.size() << '\n';  // {"foo":"b","bar":["x","y"]} 2
  // [/snippet struct]

  // [snippet serde]
  Value chat{{"messages", list({HumanMessage{.content = "hi", .id = "h1"},
                                AIMessage{.content = "hello", .id = "a1"}})}};

  JsonPlusSerializer serializer;
  TypedBytes stored = serializer.dumps_typed(chat);  // the bytes Python's LangGraph writes
  Value loaded = serializer.loads_typed(stored);
  std::cout << stored.tag << ' ' << stored.bytes.size() << ' ' << (loaded == chat) << '\n';

  for (const Value& message : loaded["messages"]) {
    std::cout << message_type(message) << ": " << message_text(message) << '\n';
  }
  // [/snippet serde]
}
