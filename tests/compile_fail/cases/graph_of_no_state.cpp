// expect: this type is not a state; write CLEW_STATE\(T, fields...\) after it
#include <clew/graph.hpp>

struct Opaque {};

int main() { clew::StateGraph<Opaque> graph; }
