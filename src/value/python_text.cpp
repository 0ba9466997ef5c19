#include "value/python_text.hpp"

#include "value/float_text.hpp"

namespace clew::internal {

std::optional<std::string> python_scalar_text(const Value& value) {
  switch (value.kind()) {
    case Kind::string: return std::string(value.as_string());
    case Kind::boolean: return value.as_bool() ? "True" : "False";
    case Kind::integer:
    case Kind::big_integer: return value.integer_text();
    case Kind::floating: {
      char text[kFloatTextSize];
      return std::string(text, write_float(value.as_double(), text));
    }
    default: return std::nullopt;
  }
}

}  // namespace clew::internal
