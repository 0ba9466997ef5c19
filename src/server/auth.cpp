#include "server/auth.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "server/http_text.hpp"

namespace clew::server {
namespace {

constexpr const char* kChallenge = "Bearer realm=\"clew\"";

[[noreturn]] void refuse(const std::string& detail, const std::string& challenge = kChallenge) {
  throw HttpError(401, detail, {{"www-authenticate", challenge}});
}

// The text after "Bearer ", if the request has that header.
std::optional<std::string_view> bearer_of(const Request& request) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string* header = request.headers.find("authorization");
  if (!header || header->size() <= kScheme.size()) return std::nullopt;
  const std::string_view text = *header;
  if (!equals_ignoring_case(text.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  const std::size_t begin = text.find_first_not_of(' ', kScheme.size());
  return text.substr(std::min(begin, text.size()));
}

// "permissions": [...], or "scope": "read write".
std::vector<std::string> permissions_of(const Value& claims) {
  std::vector<std::string> permissions;
  if (const Value& given = claims["permissions"]; given.is_list()) {
    for (const Value& permission : given) {
      if (permission.is_string()) permissions.emplace_back(permission.as_string());
    }
  } else if (const Value& scope = claims["scope"]; scope.is_string()) {
    std::string_view rest = scope.as_string();
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      if (!word.empty()) permissions.emplace_back(word);
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    }
  }
  return permissions;
}

}  // namespace

Authenticator::Authenticator(const AuthConfig& config, Clock clock)
    : owner_(config.owner), clock_(std::move(clock)) {
  for (const AuthConfig::ApiKey& key : config.api_keys) {
    if (key.key.empty() || key.identity.empty()) {
      throw ConfigError("auth.api_keys: a key and its identity cannot be empty");
    }
    keys_.push_back({digest_of(key.key), key.identity, key.permissions});
  }
  if (config.jwt) {
    tokens_.emplace(*config.jwt);
    identity_claim_ = config.jwt->identity_claim;
  }
}

Caller Authenticator::authenticate(const Request& request) const {
  // Of two, a proxy before the server may have looked at the other one.
  if (request.headers.count("authorization") > 1 || request.headers.count("x-api-key") > 1) {
    refuse("A header with credentials occurs twice");
  }
  const std::string* key = request.headers.find("x-api-key");
  const std::optional<std::string_view> bearer = bearer_of(request);
  std::optional<Caller> caller;
  if (key) caller = find_api_key(*key);
  if (!caller && bearer) caller = find_api_key(*bearer);
  if (!caller && bearer && tokens_) caller = caller_of_token(*bearer);
  if (!caller) refuse(keys_.empty() ? "Not authenticated" : "Invalid API key");
  caller->request_id = request.id;
  return *caller;
}

Authenticator::Digest Authenticator::digest_of(std::string_view key) {
  Digest digest;
  if (EVP_Digest(key.data(), key.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw Error("OpenSSL cannot compute SHA-256");
  }
  return digest;
}

// Looks at all of them, so that it takes as long for the first as for the last.
std::optional<Caller> Authenticator::find_api_key(std::string_view key) const {
  if (keys_.empty()) return std::nullopt;
  const Digest digest = digest_of(key);
  const KnownKey* found = nullptr;
  for (const KnownKey& known : keys_) {
    if (CRYPTO_memcmp(known.digest.data(), digest.data(), digest.size()) == 0) found = &known;
  }
  if (!found) return std::nullopt;
  return caller_of(found->identity, found->permissions, object());
}

Caller Authenticator::caller_of_token(std::string_view token) const {
  try {
    const Value claims =
        tokens_->verify(token, clock_ ? clock_() : std::chrono::system_clock::now());
    const Value& identity = claims[identity_claim_];
    if (!identity.is_string() || identity.as_string().empty()) {
      throw TokenError("it does not say whose it is");
    }
    return caller_of(std::string(identity.as_string()), permissions_of(claims), claims);
  } catch (const TokenError& error) {
    refuse(std::string("Invalid token: ") + error.what(),
           std::string(kChallenge) + ", error=\"invalid_token\"");
  }
}

Caller Authenticator::caller_named(const std::string& identity) const {
  return caller_of(identity, {}, object());
}

Caller Authenticator::caller_of(const std::string& identity, std::vector<std::string> permissions,
                                const Value& claims) const {
  const Value& name = claims["name"];
  Caller caller;
  caller.identity = identity;
  caller.user = claims.merge(object({{"identity", identity},
                                     {"is_authenticated", true},
                                     {"display_name", name.is_string() ? name : Value(identity)},
                                     {"permissions", Value(permissions)}}));
  caller.permissions = std::move(permissions);
  if (owner_.is_enforced) caller.owner = object({{owner_.metadata_key, identity}});
  if (owner_.is_enforced && owner_.guards_assistants) caller.assistant_owner = caller.owner;
  if (owner_.guards_store) caller.store_root = store_root_of(identity);
  return caller;
}

std::string Authenticator::describe() const {
  std::string text;
  if (!keys_.empty()) {
    text = std::to_string(keys_.size()) + (keys_.size() == 1 ? " API key" : " API keys");
  }
  if (tokens_) text += (text.empty() ? "JWT " : ", JWT ") + tokens_->algorithms();
  return text;
}

std::string store_root_of(std::string_view identity) {
  std::string label;
  for (const char c : identity) {
    switch (c) {
      case '.': label += "%2E"; break;
      case '*': label += "%2A"; break;
      case '%': label += "%25"; break;
      default: label += c;
    }
  }
  return label;
}

}  // namespace clew::server
