// A stranger's program: it sees only what was installed.
#include <iostream>

#include <clew/clew.hpp>

int main() {
  const clew::Value value{{"foo", "a"}, {"bar", {1, 2}}};
  std::cout << clew::to_json(value) << '\n';
}
