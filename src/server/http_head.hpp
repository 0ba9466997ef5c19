// The text before a body: status line and header fields.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "server/http_message.hpp"

namespace clew::server {

struct HeadOptions {
  std::optional<std::size_t> content_length{};  // nothing: as the others say
  bool is_chunked = false;
  bool keep_alive = true;
  bool is_http_1_0 = false;
};

// Ends in the empty line.
std::string response_head(const Response& response, const HeadOptions& options);

// Whether a response with `status` may have a body at all.
bool may_have_body(int status);

// What comes before and after the bytes of a chunk, and the end of all chunks.
std::string chunk_begin(std::size_t size);
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace clew::server
