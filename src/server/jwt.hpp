// JSON Web Tokens (RFC 7519), signed with HS256, RS256 or ES256.
//
//   TokenVerifier verifier(config);
//   Value claims = verifier.verify(token, now);     // {"sub": "ada", "exp": ...}
//
// Verifiers do not change: any thread may use them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <clew/error.hpp>
#include <clew/value.hpp>

#include "server/config.hpp"
#include "server/jwt_key.hpp"

namespace clew::server {

// Why a token is refused. The text may be told to the caller.
class TokenError : public Error {
 public:
  using Error::Error;
};

class TokenVerifier {
 public:
  using Time = std::chrono::system_clock::time_point;

  // Throws ConfigError if the key cannot be used.
  explicit TokenVerifier(const JwtConfig& config);

  // The claims of a token that was signed with one of the keys and is valid at
  // `now`. Throws TokenError.
  Value verify(std::string_view token, Time now) const;

  // "RS256", or "RS256 and ES256" for keys of both kinds.
  std::string algorithms() const;

 private:
  const JwtKey* find_key(const Value& header) const;
  void check_times(const Value& claims, Time now) const;
  void check_issuer_and_audience(const Value& claims) const;

  JwtKeys keys_;
  bool has_key_ids_;
  std::string issuer_;
  std::string audience_;
  std::chrono::duration<double> leeway_;
};

}  // namespace clew::server
