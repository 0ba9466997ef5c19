// expect: this type has no conversion from clew::Value.*clew::unwrap\(\)
#include <clew/value.hpp>

struct Opaque {};

int main() { clew::Value().get<std::map<std::string, std::vector<Opaque>>>(); }
