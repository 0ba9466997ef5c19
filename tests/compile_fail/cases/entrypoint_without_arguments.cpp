// expect: an entrypoint is a function of the input, or of the input and a Runtime&
#include <clew/functional.hpp>

int main() {
  clew::entrypoint("a", [] { return 1; });
}
