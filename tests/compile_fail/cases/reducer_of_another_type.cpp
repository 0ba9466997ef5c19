// expect: not a reducer: .*or T\(T current, T update\) where T is the type of the field
#include <clew/state.hpp>

struct State {
  int count = 0;
};
std::string join(std::string current, std::string update) { return current + update; }
CLEW_STATE(State, reduced(count, join))

int main() {}
