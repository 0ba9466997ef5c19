// expect: a node or task returns an Update, a struct, a Command, a std::vector of Commands
#include <clew/functional.hpp>

struct Opaque {};

int main() {
  clew::task("a", [](int) { return Opaque{}; });
}
