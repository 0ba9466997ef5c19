// expect: a task is a function of one argument, or of one argument and a Runtime&
#include <clew/functional.hpp>

int main() {
  clew::task("a", [](int first, int second) { return first + second; });
}
