// Any text is a token that is refused with 401, whatever it was signed with; claims
// that were signed properly let nobody in without an identity; any text is a set
// of keys or a ValueError. The first byte chooses which of these the rest is.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <openssl/evp.h>

#include "server/auth.hpp"

namespace {

using namespace clew::server;

constexpr std::string_view kSecret = "a secret that has more than 32 bytes";

// The example of RFC 7515, appendix A.3.
constexpr const char* kJwks = R"({"keys": [{"kty": "EC", "crv": "P-256", "kid": "1",
  "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})";

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

Authenticator with_secret() {
  AuthConfig config;
  config.jwt.emplace().secret = kSecret;
  return Authenticator(config);
}

Authenticator with_jwks() {
  AuthConfig config;
  config.api_keys = {{"key", "alice", {}}};
  config.jwt.emplace().jwks = kJwks;
  return Authenticator(config);
}

std::string base64url(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text += kDigits[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kDigits[bits << (6 - count) & 63];
  require(decode_base64url(text) == bytes, "base64url reads as it was written");
  return text;
}

std::string signed_token(std::string_view header, std::string_view claims) {
  const std::string text = base64url(header) + "." + base64url(claims);
  unsigned char mac[32];
  std::size_t size = 0;
  EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, kSecret.data(), kSecret.size(),
            reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, sizeof mac,
            &size);
  return text + "." + base64url({reinterpret_cast<const char*>(mac), size});
}

bool is_let_in(const Authenticator& authenticator, const std::string& bearer) {
  Request request;
  request.headers.add("authorization", "Bearer " + bearer);
  try {
    const Caller caller = authenticator.authenticate(request);
    require(!caller.identity.empty(), "a caller has an identity");
    require(caller.user["identity"] == clew::Value(caller.identity), "graphs see the same one");
    require(!caller.owner.is_null() && !caller.store_root.empty(), "a caller is bound");
    return true;
  } catch (const HttpError& error) {
    require(error.status() == 401, "a stranger gets 401");
    return false;
  }
}

void read_jwks(std::string_view text) {
  try {
    require(!public_keys_of_jwks(text).empty(), "a set has keys");
  } catch (const clew::ValueError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Authenticator secret = with_secret();
  static const Authenticator jwks = with_jwks();
  if (size < 1) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      is_let_in(secret, text);
      is_let_in(jwks, text);
      break;
    case 1: is_let_in(secret, signed_token(R"({"alg":"HS256"})", text)); break;
    case 2:
      is_let_in(secret, signed_token(text, R"({"sub":"ada"})"));
      require(!is_let_in(jwks, signed_token(text, R"({"sub":"ada"})")), "a secret is no key");
      break;
    default: read_jwks(text);
  }
  return 0;
}
