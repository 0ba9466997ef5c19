// Typed values from what the tag `json` holds. LangGraph wrote JSON before it
// moved to MessagePack, and its JavaScript edition still does; both describe
// objects by markers such as {"lc": 2, "type": "constructor", "id": [...]}.
#pragma once

#include <clew/dialect.hpp>
#include <clew/value.hpp>

namespace clew::serde {

// `parsed` with every marker, at any depth, replaced by the value it stands
// for, in the form in which MessagePack would hold it. A marker that means
// nothing in `dialect` stays the plain object it is. What has none is shared
// with `parsed`.
//
// Python:
//   lc 1     messages and documents of LangChain, under their old and new paths;
//            secrets are null. (Python refuses other classes; here they stay.)
//   lc 2     the classes that LangGraph always allows; see python_constructor.hpp.
//            Arguments that the class refuses make it null, as in Python.
//
// JavaScript:
//   undefined                    null
//   Set, Map                     set; object, or map if not all keys are text
//   Uint8Array                   bytes
//   RegExp                       re.compile(pattern, flags), flags i, m and s translated
//   Error (TypeError, ...)       text as Python stores exceptions: "Error('boom')"
//   delta_snapshot               delta snapshot
//   {"node", "args"}, Command    langgraph.types.Send and Command
//   lc 1 messages                as for Python
// Dates are text in JavaScript's JSON and stay so.
//
// Throws SerdeError if `parsed` is nested deeper than 1100 levels.
Value revive(const Value& parsed, Dialect dialect);

}  // namespace clew::serde
