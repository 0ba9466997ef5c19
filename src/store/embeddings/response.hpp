// What an OpenAI-compatible endpoint answers.
//
//   {"data": [{"index": 0, "embedding": [0.1, -0.2, ...]}, ...]}
//   {"error": {"message": "The model `x` does not exist"}}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <clew/store.hpp>

namespace clew::embeddings {

// The vectors of `count` texts, in the order of their indexes. A vector is a list
// of numbers, or base64 text of 32-bit floats, lowest byte first. Throws
// EmbeddingError unless there is one per text, all of one length and finite.
std::vector<Embedder::Vector> read_vectors(std::string_view body, std::size_t count);

// A server's words on one line, and not too long.
std::string quote(std::string_view text);

// The reason that the body of a refusal gives: its message, or its beginning if
// it is anything else. Empty if the body is.
std::string read_reason(std::string_view body);

}  // namespace clew::embeddings
