// What the files of the LangGraph layout share.
#pragma once

#include <string_view>

#include <clew/value.hpp>

namespace clew::sqlite {

// The metadata of a row: an empty object if it has none.
Value parse_metadata(std::string_view json);

}  // namespace clew::sqlite
