#include "server/jwt.hpp"

#include <algorithm>
#include <optional>

#include <clew/json.hpp>

namespace clew::server {
namespace {

// Nobody needs longer ones, and what is read here was sent by a stranger.
constexpr std::size_t kLongestToken = 16 * 1024;
constexpr std::size_t kDeepest = 32;

struct TokenParts {
  std::string_view header;
  std::string_view claims;
  std::string_view signature;
  std::string_view signed_text;  // header and claims
};

[[noreturn]] void refuse(const std::string& reason) { throw TokenError(reason); }

TokenParts split(std::string_view token) {
  if (token.size() > kLongestToken) refuse("it is too long");
  const std::size_t first = token.find('.');
  const std::size_t second = first == token.npos ? token.npos : token.find('.', first + 1);
  if (second == token.npos || token.find('.', second + 1) != token.npos) {
    refuse("it does not have three parts");
  }
  return {token.substr(0, first), token.substr(first + 1, second - first - 1),
          token.substr(second + 1), token.substr(0, second)};
}

Value read_object(std::string_view base64url) {
  Value object;
  try {
    object = parse_json(decode_base64url(base64url), {.max_depth = kDeepest});
  } catch (const Error&) {
    refuse("it cannot be read");
  }
  if (!object.is_object()) refuse("it cannot be read");
  return object;
}

std::string read_signature(std::string_view base64url) {
  try {
    return decode_base64url(base64url);
  } catch (const ValueError&) {
    refuse("it cannot be read");
  }
}

// Seconds since 1970.
std::optional<std::chrono::duration<double>> time_claim(const Value& claims, const char* name) {
  const Value& claim = claims[name];
  if (claim.is_null()) return std::nullopt;
  if (!claim.is_int() && !claim.is_double()) refuse(std::string(name) + " is no time");
  return std::chrono::duration<double>(claim.as_double());
}

JwtKeys keys_of(const JwtConfig& config) {
  const auto key_of = [](const char* name, const auto& read) {
    try {
      return read();
    } catch (const ValueError& error) {
      throw ConfigError(std::string("auth.jwt.") + name + ": " + error.what());
    }
  };
  JwtKeys keys;
  if (!config.secret.empty()) {
    keys.push_back(key_of("secret_env", [&] { return secret_key(config.secret); }));
  } else if (!config.public_key.empty()) {
    keys.push_back(key_of("public_key", [&] { return public_key_of_pem(config.public_key); }));
  } else {
    keys = key_of("jwks", [&] { return public_keys_of_jwks(config.jwks); });
  }
  if (config.algorithm.empty()) return keys;
  std::erase_if(keys, [&](const auto& key) { return key->algorithm() != config.algorithm; });
  if (keys.empty()) {
    throw ConfigError("auth.jwt.algorithm: there is no key for " + config.algorithm);
  }
  return keys;
}

}  // namespace

TokenVerifier::TokenVerifier(const JwtConfig& config)
    : keys_(keys_of(config)),
      has_key_ids_(std::any_of(keys_.begin(), keys_.end(),
                               [](const auto& key) { return !key->id.empty(); })),
      issuer_(config.issuer),
      audience_(config.audience),
      leeway_(config.leeway) {}

Value TokenVerifier::verify(std::string_view token, Time now) const {
  const TokenParts parts = split(token);
  const Value header = read_object(parts.header);
  // Extensions that must be understood, of which none is.
  if (header.contains("crit")) refuse("it needs extensions");
  const JwtKey* key = find_key(header);
  if (!key || !key->is_signature_of(read_signature(parts.signature), parts.signed_text)) {
    refuse("its signature is wrong");
  }
  Value claims = read_object(parts.claims);
  check_times(claims, now);
  check_issuer_and_audience(claims);
  return claims;
}

// The key that the token was signed with, if it says so; else the only one for
// its algorithm. A token that says "none" or another key's algorithm finds none.
const JwtKey* TokenVerifier::find_key(const Value& header) const {
  const Value& algorithm = header["alg"];
  const Value& id = header["kid"];
  const bool is_chosen_by_id = has_key_ids_ && !id.is_null();
  const JwtKey* found = nullptr;
  for (const auto& key : keys_) {
    if (algorithm != Value(key->algorithm())) continue;
    if (is_chosen_by_id && id != Value(key->id)) continue;
    if (found) return nullptr;
    found = key.get();
  }
  return found;
}

void TokenVerifier::check_times(const Value& claims, Time now) const {
  const std::chrono::duration<double> seconds = now.time_since_epoch();
  const auto expires = time_claim(claims, "exp");
  const auto begins = time_claim(claims, "nbf");
  const auto issued = time_claim(claims, "iat");
  if (expires && seconds >= *expires + leeway_) refuse("it has expired");
  if (begins && seconds + leeway_ < *begins) refuse("it is not valid yet");
  if (issued && seconds + leeway_ < *issued) refuse("it was issued in the future");
}

void TokenVerifier::check_issuer_and_audience(const Value& claims) const {
  if (!issuer_.empty() && claims["iss"] != Value(issuer_)) refuse("its issuer is another");
  if (audience_.empty()) return;
  const Value& audience = claims["aud"];
  const bool is_meant = audience.is_list() ? std::find(audience.begin(), audience.end(),
                                                       Value(audience_)) != audience.end()
                                           : audience == Value(audience_);
  if (!is_meant) refuse("its audience is another");
}

std::string TokenVerifier::algorithms() const {
  std::string names(keys_.front()->algorithm());
  for (const auto& key : keys_) {
    if (key->algorithm() == keys_.front()->algorithm()) continue;
    return names + " and " + std::string(key->algorithm());
  }
  return names;
}

}  // namespace clew::server
