// Taking over the items of another file.
#pragma once

#include <string>

#include "checkpoint/sqlite/database.hpp"

namespace clew::sqlite {

// Rows go as they are, in one transaction: values that are encrypted stay so. Returns how
// many were added; an item that is there already stays what it is. Both files have
// the tables of a store.
std::size_t copy_items(Database& database, const std::string& source);

}  // namespace clew::sqlite
