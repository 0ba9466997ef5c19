// expect: this type has no conversion to clew::Value: write CLEW_JSON\(T, fields...\) after the type
#include <clew/value.hpp>

struct Opaque {};
struct Holder {
  int number = 0;
  Opaque opaque;
};
CLEW_JSON(Holder, number, opaque)

int main() { clew::Value value = Holder{}; }
