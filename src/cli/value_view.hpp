// Values as a person reads them.
//
//   place     Rome
//   messages  2 messages
//     human   hi, I am Ada
//     ai      → search(query="hotels")
//   topics    3 elements
//     - tides
//     …
#pragma once

#include <string>
#include <string_view>

#include <clew/value.hpp>

#include "cli/console.hpp"

namespace clew::cli {

struct ViewOptions {
  // Everything, in as many lines as it takes. Else long lists and texts are cut off.
  bool full = false;
};

// The entries of an object, each behind `indent` columns; of another value, its lines.
void print_value(Console& console, const Value& value, std::size_t indent,
                 const ViewOptions& options);

// In one line: a text as it is, everything else as JSON, with the names of types that
// JSON does not know.
std::string value_text(const Value& value);

// A message, or a plain object that has a role and a content.
bool looks_like_message(const Value& value);
// "human", "ai", "tool", or whatever role it has.
std::string message_role(const Value& message);
// Its text and the calls of tools: "let me see → search(query="hotels")".
std::string message_line(const Value& message);

// "2 messages", "1 element", "3 keys"; empty for what has no parts.
std::string size_text(const Value& value);

}  // namespace clew::cli
