// expect: this type has no conversion from clew::Value: write CLEW_JSON\(T, fields...\) after the type
#include <clew/value.hpp>

struct Opaque {};

int main() { clew::Value().get<Opaque>(); }
