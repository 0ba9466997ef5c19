// Who calls: API keys and tokens become callers.
//
//   const Authenticator authenticator(*config.auth);
//   options.middleware = [&](Request& request) -> std::optional<Response> {
//     request.caller = authenticator.authenticate(request);
//     return std::nullopt;
//   };
//
// A key comes as "x-api-key: KEY" or "Authorization: Bearer KEY", a token as
// "Authorization: Bearer TOKEN". One of them that is right is enough: clients
// send keys of other services along that they find in their environment. All
// callers with one identity are the same caller, however they came.
//
// Authenticators do not change: any thread may use them.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/caller.hpp"
#include "server/config.hpp"
#include "server/http_message.hpp"
#include "server/jwt.hpp"

namespace clew::server {

class Authenticator {
 public:
  using Clock = std::function<std::chrono::system_clock::time_point()>;

  // Throws ConfigError for keys that cannot be used. The clock is for tests.
  explicit Authenticator(const AuthConfig& config, Clock clock = {});

  // Throws HttpError 401 if the request has nothing that lets it in.
  Caller authenticate(const Request& request) const;

  // The caller of this identity, for what is done in his name when he is not there.
  Caller caller_named(const std::string& identity) const;

  // "2 API keys, JWT RS256"
  std::string describe() const;

 private:
  using Digest = std::array<unsigned char, 32>;

  // Keys are kept and compared as digests: how long a comparison takes tells nothing.
  struct KnownKey {
    Digest digest;
    std::string identity;
    std::vector<std::string> permissions;
  };

  static Digest digest_of(std::string_view key);
  std::optional<Caller> find_api_key(std::string_view key) const;
  Caller caller_of_token(std::string_view token) const;
  Caller caller_of(const std::string& identity, std::vector<std::string> permissions,
                   const Value& claims) const;

  std::vector<KnownKey> keys_;
  std::optional<TokenVerifier> tokens_;
  std::string identity_claim_;
  AuthConfig::Owner owner_;
  Clock clock_;
};

// The label with which the store namespaces of `identity` begin: the identity,
// with ".", "*" and "%" as "%2E", "%2A" and "%25". Labels have no dots, and where
// namespaces are listed a star stands for any label.
std::string store_root_of(std::string_view identity);

}  // namespace clew::server
