// Ids for new rows.
#pragma once

#include <string>
#include <string_view>

namespace clew::server {

// Version 7: rises with time, also within a millisecond. For threads and runs.
std::string new_uuid7();

// Version 4: random. For assistants and crons.
std::string new_uuid4();

// The id in lower case with dashes. Throws ServiceError 422 "Invalid <what> ID:
// must be a UUID".
std::string checked_uuid(std::string_view text, std::string_view what);
bool is_uuid(std::string_view text);

}  // namespace clew::server
