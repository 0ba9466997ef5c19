// expect: no matching (function for call to .*Value\(Opaque|conversion for functional-style cast from 'Opaque' to 'clew::Value')
#include <clew/value.hpp>

struct Opaque {};

int main() {
  Opaque opaque;
  auto value = clew::Value(opaque);
}
