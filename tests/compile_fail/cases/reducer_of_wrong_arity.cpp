// expect: not a reducer: reduced\(field, reducer\) takes .*Value\(const Value& current, const Value& update\)
#include <clew/state.hpp>

struct State {
  std::vector<int> bar;
};
CLEW_STATE(State, reduced(bar, [](const clew::Value& current) { return current; }))

int main() {}
