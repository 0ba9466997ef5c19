#include "server/sqlite/codec.hpp"

#include <cmath>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <clew/json.hpp>

namespace clew::server::sqlite {
namespace {

constexpr std::size_t kLongestLabel = 200;

std::string digest(std::string_view secret, std::string_view text) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes, &size);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += kDigits[bytes[i] >> 4];
    hex += kDigits[bytes[i] & 15];
  }
  return hex;
}

// 1 and 1.0 are one value to whoever searches.
Value canonical(const Value& value) {
  if (!value.is_double()) return value;
  const double number = value.as_double();
  const bool is_whole = std::abs(number) < 9e15 && std::nearbyint(number) == number;
  return is_whole ? Value(static_cast<std::int64_t>(number)) : value;
}

bool is_scalar(const Value& value) {
  return value.is_string() || value.is_int() || value.is_double() || value.is_bool();
}

}  // namespace

std::string Codec::encode(const Value& value) const {
  return seal(to_json(value, {.non_finite = NonFinite::null}));
}

Value Codec::decode(std::string_view stored) const { return parse_json(open(stored)); }

std::string Codec::seal(std::string_view text) const {
  return cipher_ ? cipher_->encrypt(text) : std::string(text);
}

std::string Codec::open(std::string_view stored) const {
  return cipher_ ? cipher_->decrypt(stored) : std::string(stored);
}

std::vector<Label> Codec::labels(const Value& metadata) const {
  std::vector<Label> labels;
  if (!metadata.is_object()) return labels;
  for (auto [key, value] : metadata.items()) {
    if (!is_scalar(value)) continue;
    const std::string text = to_json(canonical(value), {.non_finite = NonFinite::null});
    if (key.size() + text.size() > kLongestLabel) continue;
    if (cipher_) {
      labels.push_back({"", digest(secret_, std::string(key) + '\0' + text)});
    } else {
      labels.push_back({std::string(key), text});
    }
  }
  return labels;
}

std::optional<std::int64_t> micros(const std::optional<Time>& time) {
  if (!time) return std::nullopt;
  return micros(*time);
}

}  // namespace clew::server::sqlite
