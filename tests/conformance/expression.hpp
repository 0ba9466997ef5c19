// Expressions of scenario files: JSON in which an object with a key such as
// "$state" stands for a value that is computed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <clew/runtime.hpp>
#include <clew/value.hpp>

namespace clew::conformance {

// What the expressions of one run of a body see.
struct Frame {
  Value input;
  Runtime* runtime = nullptr;  // null in the arguments of actions
  std::int64_t run = 0;        // how often the body was started, this time included
  std::map<std::string, Value, std::less<>> variables = {};
};

// Throws ScenarioError on an unknown operator, ReducerTypeError where types do not fit.
Value evaluate(Frame& frame, const Value& expression);

// An expression without a state, as in the input of an action.
Value evaluate(const Value& expression);

// The Command that {update?, goto?, resume?, graph?} describes; fields are values already.
Value make_command(const Value& fields);

// A message as {type, content, id, name?, tool_calls?, tool_call_id?}.
Value message_fields(const Value& message);

}  // namespace clew::conformance
