#include "cli/conditions.hpp"

#include <clew/error.hpp>
#include <clew/json.hpp>

namespace clew::cli {

Value parse_conditions(const std::vector<std::string>& conditions) {
  Value filter;
  for (const std::string& condition : conditions) {
    const std::size_t equals = condition.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error("'" + condition + "' is no condition; say KEY=VALUE");
    }
    const std::string text = condition.substr(equals + 1);
    Value value = text;
    try {
      value = parse_json(text);
    } catch (const SerdeError&) {
      // A text without quotes.
    }
    filter = (filter.is_null() ? object() : filter).set(condition.substr(0, equals), value);
  }
  return filter;
}

}  // namespace clew::cli
