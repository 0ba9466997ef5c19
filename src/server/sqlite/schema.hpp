// The server's tables. All begin with `agent_`, so that they can share a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/sqlite/connection.hpp"

namespace clew::server::sqlite {

// Throws StorageError if a newer Clew made them.
void create_tables(clew::sqlite::Connection& connection);

// What labels are digested under, encrypted; nothing in a new file.
std::optional<std::string> stored_secret(clew::sqlite::Connection& connection);
void store_secret(clew::sqlite::Connection& connection, std::string_view secret);

}  // namespace clew::server::sqlite
