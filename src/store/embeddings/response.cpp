#include "store/embeddings/response.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <openssl/evp.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "value/utf8.hpp"

namespace clew::embeddings {

namespace {

[[noreturn]] void fail(const std::string& reason) { throw EmbeddingError(reason); }

Value parse(std::string_view body) {
  if (body.empty()) fail("the answer is empty");
  try {
    // NaN is read so that the error can say which vector has it.
    return parse_json(body, {.max_depth = 64, .allow_non_finite = true});
  } catch (const SerdeError& error) {
    fail(fmt::format("the answer is not JSON ({}): {}", error.what(), read_reason(body)));
  }
}

float to_float(const Value& number, std::size_t index) {
  if (!number.is_double() && !number.is_int()) {
    fail(fmt::format("vector {} holds {} where a 32-bit float belongs", index,
                     number.is_null() ? "null" : number.type_name()));
  }
  const double value = number.as_double();
  if (std::isfinite(value) && std::abs(value) <= std::numeric_limits<float>::max()) {
    return static_cast<float>(value);
  }
  fail(fmt::format("vector {} holds a number that is not finite", index));
}

Embedder::Vector from_list(const Value& numbers, std::size_t index) {
  Embedder::Vector vector;
  vector.reserve(numbers.size());
  for (const Value& number : numbers) vector.push_back(to_float(number, index));
  return vector;
}

std::vector<unsigned char> decode_base64(std::string_view text, std::size_t index) {
  std::vector<unsigned char> bytes(text.size() / 4 * 3);
  const auto* begin = reinterpret_cast<const unsigned char*>(text.data());
  const int size = text.size() % 4 == 0
                       ? EVP_DecodeBlock(bytes.data(), begin, static_cast<int>(text.size()))
                       : -1;
  // The padding counts as bytes, unless there was whitespace around.
  const std::size_t padding = text.size() - std::min(text.find_last_not_of('=') + 1, text.size());
  if (size < 0 || static_cast<std::size_t>(size) != bytes.size() || padding > 2) {
    fail(fmt::format("vector {} is text that is not base64", index));
  }
  bytes.resize(bytes.size() - std::min(padding, bytes.size()));
  return bytes;
}

Embedder::Vector from_base64(std::string_view text, std::size_t index) {
  const std::vector<unsigned char> bytes = decode_base64(text, index);
  if (bytes.size() % sizeof(float) != 0) {
    fail(fmt::format("vector {} has {} bytes, which are no 32-bit floats", index, bytes.size()));
  }
  Embedder::Vector vector;
  vector.reserve(bytes.size() / sizeof(float));
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    const std::uint32_t bits = std::uint32_t{bytes[i]} | std::uint32_t{bytes[i + 1]} << 8 |
                               std::uint32_t{bytes[i + 2]} << 16 |
                               std::uint32_t{bytes[i + 3]} << 24;
    vector.push_back(std::bit_cast<float>(bits));
    if (!std::isfinite(vector.back())) {
      fail(fmt::format("vector {} holds a number that is not finite", index));
    }
  }
  return vector;
}

Embedder::Vector to_vector(const Value& embedding, std::size_t index) {
  if (embedding.is_list()) return from_list(embedding, index);
  if (embedding.is_string()) return from_base64(embedding.as_string(), index);
  fail(fmt::format("entry {} of 'data' has no list of numbers named 'embedding'", index));
}

// Servers that leave the index out answer in order.
std::size_t index_of(const Value& entry, std::size_t position, std::size_t count) {
  const Value& index = entry["index"];
  if (index.is_null()) return position;
  if (index.is_int() && index.as_int() >= 0 && std::cmp_less(index.as_int(), count)) {
    return static_cast<std::size_t>(index.as_int());
  }
  fail(fmt::format("entry {} of 'data' has an 'index' that is not below {}", position, count));
}

void check_lengths(const std::vector<Embedder::Vector>& vectors) {
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (vectors[i].empty()) fail(fmt::format("vector {} is empty", i));
    if (vectors[i].size() != vectors[0].size()) {
      fail(fmt::format("vector {} has {} dimensions and vector 0 has {}", i, vectors[i].size(),
                       vectors[0].size()));
    }
  }
}

// At most this many bytes of a server's words are quoted.
constexpr std::size_t kLongestQuote = 300;

// Where servers put their message: OpenAI and those like it, Ollama, FastAPI.
const Value* find_message(const Value& answer) {
  for (const Value* message :
       {&answer["error"]["message"], &answer["error"], &answer["message"], &answer["detail"]}) {
    if (message->is_string()) return message;
  }
  return nullptr;
}

}  // namespace

std::vector<Embedder::Vector> read_vectors(std::string_view body, std::size_t count) {
  const Value answer = parse(body);
  const Value& data = answer["data"];
  if (!data.is_list()) fail("the answer has no list 'data': " + read_reason(body));
  if (data.size() != count) {
    fail(fmt::format("the answer has {} vectors for {} texts", data.size(), count));
  }
  std::vector<Embedder::Vector> vectors(count);
  std::vector<bool> is_there(count);
  std::size_t position = 0;
  for (const Value& entry : data) {
    const std::size_t index = index_of(entry, position++, count);
    if (is_there[index]) fail(fmt::format("the answer has two vectors for text {}", index));
    is_there[index] = true;
    vectors[index] = to_vector(entry["embedding"], index);
  }
  check_lengths(vectors);
  return vectors;
}

std::string quote(std::string_view text) {
  std::string line;
  while (!text.empty() && line.size() < kLongestQuote) {
    const std::size_t size = internal::utf8_sequence_size(text);
    const bool is_control = static_cast<unsigned char>(text.front()) < 0x20;
    if (size == 0) {
      line += '?';
    } else if (!is_control) {
      line += text.substr(0, size);
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return text.empty() ? line : line + "...";
}

std::string read_reason(std::string_view body) {
  try {
    const Value answer = parse_json(body, {.max_depth = 64});
    if (const Value* message = find_message(answer)) return quote(message->as_string());
  } catch (const SerdeError&) {  // a page of a proxy, or half an answer
  }
  return quote(body);
}

}  // namespace clew::embeddings
