// What separates two values: objects are compared key by key, lists of messages by the
// ids of the messages, other lists element by element.
//
//   for (const ValueChange& change : value_diff(older, newer))
//     std::cout << path_text(change.path) << '\n';        // files.a.txt, messages[2]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <clew/value.hpp>

namespace clew::cli {

struct ValueChange {
  Value path;                   // a list of keys and places; a place is that of the newer list,
                                // for what was removed that of the older
  std::optional<Value> before;  // nothing: it was added
  std::optional<Value> after;   // nothing: it was removed
};

// In the order of the newer value. Lists that were only appended to cost what was appended
// where both share their beginning in memory, else their length.
std::vector<ValueChange> value_diff(const Value& before, const Value& after);

std::string path_text(const Value& path);

}  // namespace clew::cli
