// What the files of the LangGraph layout share.
#pragma once

#include <string_view>

#include <clew/value.hpp>

namespace clew::sqlite {

inline constexpr std::string_view kNewestId =
    "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? "
    "ORDER BY checkpoint_id DESC LIMIT 1";

// The metadata of a row: an empty object if it has none.
Value parse_metadata(std::string_view json);

}  // namespace clew::sqlite
