// expect: not a reducer: reduced\(field, reducer\) takes a function or lambda
#include <clew/state.hpp>

struct State {
  int count = 0;
};
CLEW_STATE(State, reduced(count, 3))

int main() {}
