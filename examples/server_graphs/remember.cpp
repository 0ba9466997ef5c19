// remember: keeps facts about a user in the store, which all threads share.
#include <algorithm>

#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct RememberState {
  std::string user;
  std::string fact;
  std::vector<std::string> known;
};
CLEW_STATE(RememberState, user, fact, known)

namespace {

Update recall(const RememberState& state, Runtime& runtime) {
  Store& store = *runtime.store();
  const StoreNamespace facts{"facts", state.user};
  if (!state.fact.empty()) store.put(facts, state.fact, {{"text", state.fact}});
  std::vector<std::string> known;
  for (const SearchItem& item : store.search(facts, {.limit = 100})) {
    known.push_back(item.value.get<std::string>("text"));
  }
  std::sort(known.begin(), known.end());
  return Update{{"known", known}};
}

StateGraph<RememberState> remember() {
  return StateGraph<RememberState>()
      .add_node("remember", recall)
      .add_edge(START, "remember")
      .add_edge("remember", END);
}

}  // namespace

CLEW_GRAPH(remember)
