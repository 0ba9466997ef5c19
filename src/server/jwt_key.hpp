// A key that tokens are checked with. It has one algorithm: what a token says of
// its own never chooses how it is checked.
//
// Keys do not change: any thread may use them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <clew/value.hpp>

namespace clew::server {

class JwtKey {
 public:
  JwtKey() = default;
  JwtKey(const JwtKey&) = delete;
  JwtKey& operator=(const JwtKey&) = delete;
  virtual ~JwtKey() = default;

  virtual std::string_view algorithm() const = 0;
  virtual bool is_signature_of(std::string_view signature, std::string_view text) const = 0;

  std::string id{};  // "kid"; empty if it has none
};

using JwtKeys = std::vector<std::unique_ptr<const JwtKey>>;

// Each throws ValueError if there is no key that can be used.
//
// HS256. A secret should have 32 bytes or more: shorter ones can be guessed.
std::unique_ptr<const JwtKey> secret_key(std::string_view secret);
// RS256 (RSA of 2048 bits or more) or ES256 (an elliptic curve key on P-256).
std::unique_ptr<const JwtKey> public_key_of_pem(std::string_view pem);
// The RS256 and ES256 keys of a JWKS document; those for other purposes are left out.
JwtKeys public_keys_of_jwks(std::string_view json);

// The bytes of base64url text without padding, as tokens and JWKS have it.
// Throws ValueError for any other text.
std::string decode_base64url(std::string_view text);

}  // namespace clew::server
