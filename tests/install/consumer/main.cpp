// A stranger's program: it sees only what was installed.
#include <iostream>

#include <clew/clew.hpp>
#include <clew/sqlite_saver.hpp>

int main() {
  const auto saver = clew::SqliteSaver::open(":memory:");
  const clew::Value value{{"foo", "a"}, {"bar", {1, 2}}};
  if (saver->list_threads({}).empty()) std::cout << clew::to_json(value) << '\n';
}
