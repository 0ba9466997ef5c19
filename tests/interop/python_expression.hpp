// Python expressions as values, without Python: for vectors that record only
// the source of a value that the real serializer refused.
//
//   evaluate_python("{'a': [2**64, None]}")     // {"a": [18446744073709551616, null]}
//   evaluate_python("[object()]")               // [an UnknownPythonObject]
//
// Understood are literals, lists, tuples, dictionaries, sets, arithmetic on
// integers, and calls of set, frozenset and deque. Every other name, call,
// attribute or operator stands for an object that Clew has no value for.
#pragma once

#include <string>
#include <string_view>

#include <clew/value.hpp>

namespace clew::interop {

// Stands for such an object; a C++ type that no registry knows.
struct UnknownPythonObject {
  std::string expression;
};

// Never fails: an expression that is not understood is unknown as a whole.
Value evaluate_python(std::string_view expression);

}  // namespace clew::interop
