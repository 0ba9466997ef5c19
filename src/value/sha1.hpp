// SHA-1, which only derives ids that LangGraph derives the same way.
#pragma once

#include <string_view>

#include <clew/uuid.hpp>

namespace clew::internal {

// The first 16 of the hash's 20 bytes. Throws Error if OpenSSL is configured
// without SHA-1.
Uuid::Bytes truncated_sha1(std::string_view bytes);

}  // namespace clew::internal
