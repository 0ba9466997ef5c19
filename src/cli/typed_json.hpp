// Values as JSON that loses nothing.
//
//   {"when": {"$type": "msgpack", "base64": "x1QB...", "json": "2026-11-16"}, "count": 3}
//
// What JSON can say is said in JSON. Anything else (bytes, times, messages, NaN,
// dictionaries with other keys than texts, and objects with keys that begin with '$')
// is an object of three entries: how LangGraph's serializer stores it, and, for whoever
// reads it, what it says. docs/format/export.md describes it.
#pragma once

#include <clew/value.hpp>

namespace clew::cli {

Value to_typed_json(const Value& value);

// Throws Error if it is none.
Value from_typed_json(const Value& json);

}  // namespace clew::cli
