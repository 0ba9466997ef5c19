// Reads arbitrary bytes as the answer of an embeddings endpoint. What is refused
// must be refused by EmbeddingError on one line; what is accepted must be one
// vector per text, all finite and of one length.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <clew/errors.hpp>

#include "store/embeddings/response.hpp"
#include "value/utf8.hpp"

namespace {

using namespace clew;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

void require_quotable(std::string_view text) {
  require(internal::find_invalid_utf8(text) == std::string_view::npos, "what is quoted is UTF-8");
  require(text.find('\n') == std::string_view::npos, "what is quoted is one line");
}

void read(std::string_view body, std::size_t count) {
  try {
    const auto vectors = embeddings::read_vectors(body, count);
    require(vectors.size() == count, "one vector per text");
    for (const Embedder::Vector& vector : vectors) {
      require(!vector.empty() && vector.size() == vectors[0].size(), "vectors of one length");
      require(std::ranges::all_of(vector, [](float x) { return std::isfinite(x); }), "all finite");
    }
  } catch (const EmbeddingError& error) {
    require_quotable(error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const std::size_t count : {1, 2, 3}) read(body, count);
  require_quotable(embeddings::read_reason(body));
  return 0;
}
