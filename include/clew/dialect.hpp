// Which LangGraph wrote a stored value. Python and JavaScript share the table
// layouts but not the payloads.
#pragma once

namespace clew {

enum class Dialect {
  python,
  javascript,
};

}  // namespace clew
