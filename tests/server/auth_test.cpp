// Who is let in, and as whom.
#include "server/auth.hpp"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <clew/json.hpp>

namespace clew::server {
namespace {

using testing::HasSubstr;

// Keys and tokens ---------------------------------------------------------------

constexpr std::string_view kSecret = "a secret that has more than 32 bytes";
constexpr std::int64_t kNow = 1'700'000'000;

std::string base64url(std::string_view bytes) {
  std::string text(bytes.size() / 3 * 4 + 5, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  text.resize(text.find_last_not_of('=') + 1);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

std::string hmac(std::string_view secret, std::string_view text) {
  unsigned char mac[32];
  std::size_t size = 0;
  EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, secret.data(), secret.size(),
            reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, sizeof mac,
            &size);
  return {reinterpret_cast<const char*>(mac), size};
}

std::string bytes_of(const BIGNUM* number, int size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()), size);
  return bytes;
}

// A pair of keys.
class Signer {
 public:
  static Signer rsa(unsigned bits = 2048) { return Signer(EVP_RSA_gen(bits)); }
  static Signer ec(const char* curve = "P-256") { return Signer(EVP_EC_gen(curve)); }

  std::string pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PUBKEY(bio, key_.get());
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    std::string text(data, static_cast<std::size_t>(size));
    BIO_free(bio);
    return text;
  }

  Value jwk(const std::string& id) const {
    const Value common = object({{"kid", id}, {"use", "sig"}});
    if (is_rsa()) {
      return common.merge(object({{"kty", "RSA"},
                                  {"n", number(OSSL_PKEY_PARAM_RSA_N, 256)},
                                  {"e", number(OSSL_PKEY_PARAM_RSA_E, 3)}}));
    }
    return common.merge(object({{"kty", "EC"},
                                {"crv", "P-256"},
                                {"x", number(OSSL_PKEY_PARAM_EC_PUB_X, 32)},
                                {"y", number(OSSL_PKEY_PARAM_EC_PUB_Y, 32)}}));
  }

  // As tokens have it.
  std::string sign(std::string_view text) const {
    unsigned char signature[512];
    std::size_t size = sizeof signature;
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    EVP_DigestSignInit_ex(context, nullptr, "SHA256", nullptr, nullptr, key_.get(), nullptr);
    EVP_DigestSign(context, signature, &size, reinterpret_cast<const unsigned char*>(text.data()),
                   text.size());
    EVP_MD_CTX_free(context);
    if (is_rsa()) return {reinterpret_cast<const char*>(signature), size};
    const unsigned char* der = signature;
    ECDSA_SIG* numbers = d2i_ECDSA_SIG(nullptr, &der, static_cast<long>(size));
    std::string both =
        bytes_of(ECDSA_SIG_get0_r(numbers), 32) + bytes_of(ECDSA_SIG_get0_s(numbers), 32);
    ECDSA_SIG_free(numbers);
    return both;
  }

  std::string token(const Value& claims, const Value& header = {}) const {
    const Value own = object({{"alg", is_rsa() ? "RS256" : "ES256"}});
    const std::string text =
        base64url(to_json(own.merge(header))) + "." + base64url(to_json(claims));
    return text + "." + base64url(sign(text));
  }

 private:
  explicit Signer(EVP_PKEY* key) : key_(key, EVP_PKEY_free) {}

  bool is_rsa() const { return EVP_PKEY_is_a(key_.get(), "RSA") == 1; }

  std::string number(const char* name, int size) const {
    BIGNUM* number = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &number);
    const std::string bytes = bytes_of(number, size);
    BN_free(number);
    return base64url(bytes);
  }

  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
};

const Signer& rsa_signer() {
  static const Signer signer = Signer::rsa();
  return signer;
}
const Signer& ec_signer() {
  static const Signer signer = Signer::ec();
  return signer;
}

std::string secret_token(const Value& claims, std::string_view secret = kSecret,
                         const Value& header = object({{"alg", "HS256"}})) {
  const std::string text = base64url(to_json(header)) + "." + base64url(to_json(claims));
  return text + "." + base64url(hmac(secret, text));
}

JwtConfig with_secret() {
  JwtConfig jwt;
  jwt.secret = kSecret;
  return jwt;
}
JwtConfig with_pem(const Signer& signer) {
  JwtConfig jwt;
  jwt.public_key = signer.pem();
  return jwt;
}
JwtConfig with_jwks(const Value& keys) {
  JwtConfig jwt;
  jwt.jwks = to_json(object({{"keys", keys}}));
  return jwt;
}

// Requests ----------------------------------------------------------------------

AuthConfig two_keys() {
  AuthConfig config;
  config.api_keys = {{"key-alice", "alice", {"read"}}, {"key-bob", "bob", {}}};
  return config;
}

Authenticator authenticator(AuthConfig config) {
  return Authenticator(
      config, [] { return std::chrono::system_clock::time_point(std::chrono::seconds(kNow)); });
}
Authenticator authenticator(JwtConfig jwt) {
  AuthConfig config;
  config.jwt = std::move(jwt);
  return authenticator(config);
}

Caller caller_of(const Authenticator& authenticator, Headers headers) {
  Request request;
  request.id = "request-1";
  request.headers = std::move(headers);
  return authenticator.authenticate(request);
}

Headers bearer(const std::string& token) { return {{"Authorization", "Bearer " + token}}; }

// Who is let in, or why not.
std::string answer(const Authenticator& authenticator, Headers headers) {
  try {
    return caller_of(authenticator, std::move(headers)).identity;
  } catch (const HttpError& error) {
    EXPECT_EQ(error.status(), 401);
    const Response response = error.response();
    const auto& last = response.headers.back();
    EXPECT_EQ(last.first, "www-authenticate");
    EXPECT_THAT(last.second, HasSubstr("Bearer realm=\"clew\""));
    return error.detail();
  }
}

std::string answer(const JwtConfig& jwt, const std::string& token) {
  return answer(authenticator(jwt), bearer(token));
}

std::string problem(const JwtConfig& jwt) {
  try {
    authenticator(jwt);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

const Value kAda = object({{"sub", "ada"}, {"exp", kNow + 60}});

// API keys ----------------------------------------------------------------------

TEST(Auth, AnApiKeyIsItsIdentity) {
  const Authenticator auth = authenticator(two_keys());
  EXPECT_EQ(answer(auth, {{"X-Api-Key", "key-alice"}}), "alice");
  EXPECT_EQ(answer(auth, {{"x-api-key", "key-bob"}}), "bob");
  EXPECT_EQ(answer(auth, bearer("key-bob")), "bob");
  EXPECT_EQ(answer(auth, {{"authorization", "bearer  key-bob"}}), "bob");
  const Caller alice = caller_of(auth, {{"x-api-key", "key-alice"}});
  EXPECT_EQ(to_json(alice.user),
            R"({"identity":"alice","is_authenticated":true,"display_name":"alice",)"
            R"("permissions":["read"]})");
  EXPECT_EQ(alice.permissions, std::vector<std::string>{"read"});
  EXPECT_EQ(to_json(alice.owner), R"({"owner":"alice"})");
  EXPECT_TRUE(alice.assistant_owner.is_null());
  EXPECT_EQ(alice.store_root, "alice");
  EXPECT_EQ(alice.request_id, "request-1");
}

TEST(Auth, WhatIsNoKeyIsRefused) {
  const Authenticator auth = authenticator(two_keys());
  for (const std::string key : {"", " ", "key-alic", "key-alice ", "key-alicee", "KEY-ALICE"}) {
    EXPECT_EQ(answer(auth, {{"x-api-key", key}}), "Invalid API key") << key;
    EXPECT_EQ(answer(auth, bearer(key)), "Invalid API key") << key;
  }
  EXPECT_EQ(answer(auth, {}), "Invalid API key");
  EXPECT_EQ(answer(auth, {{"authorization", "key-alice"}}), "Invalid API key");
  EXPECT_EQ(answer(auth, {{"authorization", "Basic key-alice"}}), "Invalid API key");
  EXPECT_EQ(answer(auth, {{"cookie", "x-api-key=key-alice"}}), "Invalid API key");
  EXPECT_EQ(answer(auth, {{"x-api-key", "key-alice"}, {"X-API-KEY", "key-bob"}}),
            "A header with credentials occurs twice");
}

TEST(Auth, KeysOfOtherServicesDoNoHarm) {
  AuthConfig config = two_keys();
  config.jwt = with_secret();
  const Authenticator auth = authenticator(config);
  EXPECT_EQ(answer(auth, {{"x-api-key", "lsv2_other"},
                          {"authorization", "Bearer " + secret_token(kAda)}}),
            "ada");
  EXPECT_EQ(answer(auth, {{"x-api-key", "key-bob"}, {"authorization", "Bearer other"}}), "bob");
  EXPECT_EQ(answer(auth, {{"x-api-key", "lsv2_other"}}), "Invalid API key");
  EXPECT_EQ(answer(auth, {}), "Invalid API key");
  EXPECT_EQ(answer(authenticator(with_secret()), {}), "Not authenticated");
}

TEST(Auth, TheOwnerRuleBindsCallers) {
  AuthConfig config = two_keys();
  config.owner = {.is_enforced = true,
                  .metadata_key = "user",
                  .guards_store = false,
                  .guards_assistants = true};
  const Caller guarded = caller_of(authenticator(config), bearer("key-bob"));
  EXPECT_EQ(to_json(guarded.owner), R"({"user":"bob"})");
  EXPECT_EQ(to_json(guarded.assistant_owner), R"({"user":"bob"})");
  EXPECT_EQ(guarded.store_root, "");
  config.owner.is_enforced = false;
  const Caller free = caller_of(authenticator(config), bearer("key-bob"));
  EXPECT_TRUE(free.owner.is_null());
  EXPECT_TRUE(free.assistant_owner.is_null());
}

TEST(Auth, StoreRootsAreLabelsAndDiffer) {
  EXPECT_EQ(store_root_of("ada"), "ada");
  EXPECT_EQ(store_root_of("ada@example.com"), "ada@example%2Ecom");
  EXPECT_EQ(store_root_of("ada@example%2Ecom"), "ada@example%252Ecom");
  EXPECT_EQ(store_root_of("*"), "%2A");  // else it would be everybody's
}

TEST(Auth, SaysHowOneGetsIn) {
  AuthConfig config = two_keys();
  EXPECT_EQ(authenticator(config).describe(), "2 API keys");
  config.jwt = with_pem(rsa_signer());
  EXPECT_EQ(authenticator(config).describe(), "2 API keys, JWT RS256");
  EXPECT_EQ(authenticator(with_secret()).describe(), "JWT HS256");
  EXPECT_EQ(
      authenticator(with_jwks(list({rsa_signer().jwk("1"), ec_signer().jwk("2")}))).describe(),
      "JWT RS256 and ES256");
}

// Tokens ------------------------------------------------------------------------

TEST(Auth, ATokenIsItsSubject) {
  EXPECT_EQ(answer(with_secret(), secret_token(kAda)), "ada");
  EXPECT_EQ(answer(with_pem(rsa_signer()), rsa_signer().token(kAda)), "ada");
  EXPECT_EQ(answer(with_pem(ec_signer()), ec_signer().token(kAda)), "ada");
  // Proven keys of others do not open it.
  EXPECT_EQ(answer(with_pem(rsa_signer()), Signer::rsa().token(kAda)),
            "Invalid token: its signature is wrong");
  EXPECT_EQ(answer(with_pem(ec_signer()), Signer::ec().token(kAda)),
            "Invalid token: its signature is wrong");
  EXPECT_EQ(answer(with_secret(), secret_token(kAda, "another secret")),
            "Invalid token: its signature is wrong");
}

// The examples of RFC 7515, appendices A.1 and A.3.
TEST(Auth, TokensOfTheStandard) {
  constexpr std::string_view kClaims =
      ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
      "cnVlfQ.";
  const TokenVerifier::Time time(std::chrono::seconds(1'300'819'379));
  JwtConfig secret;
  secret.secret = decode_base64url(
      "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
  const std::string expected =
      R"({"iss":"joe","exp":1300819380,"http://example.com/is_root":true})";
  EXPECT_EQ(to_json(TokenVerifier(secret).verify("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9" +
                                                     std::string(kClaims) +
                                                     "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
                                                 time)),
            expected);
  const JwtConfig ec =
      with_jwks(list({object({{"kty", "EC"},
                              {"crv", "P-256"},
                              {"x", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"},
                              {"y", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}})}));
  EXPECT_EQ(to_json(TokenVerifier(ec).verify(
                "eyJhbGciOiJFUzI1NiJ9" + std::string(kClaims) +
                    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3"
                    "-Kg6NU1Q",
                time)),
            expected);
}

TEST(Auth, ATokenCannotChooseHowItIsChecked) {
  const std::string wrong = "Invalid token: its signature is wrong";
  const std::string claims = base64url(to_json(kAda));
  for (const char* alg : {"none", "None", "NONE", "", "HS384", "hs256"}) {
    const std::string header = base64url(to_json(object({{"alg", alg}, {"typ", "JWT"}})));
    EXPECT_EQ(answer(with_secret(), header + "." + claims + "."), wrong) << alg;
    const std::string text = header + "." + claims;
    EXPECT_EQ(answer(with_secret(), text + "." + base64url(hmac(kSecret, text))), wrong) << alg;
  }
  // The public key as a secret, in all its spellings.
  const JwtConfig rsa = with_pem(rsa_signer());
  const std::string pem = rsa_signer().pem();
  EXPECT_EQ(answer(rsa, secret_token(kAda, pem)), wrong);
  EXPECT_EQ(answer(rsa, secret_token(kAda, pem.substr(0, pem.size() - 1))), wrong);
  EXPECT_EQ(answer(rsa, secret_token(kAda, pem, object({{"alg", "RS256"}}))), wrong);
  EXPECT_EQ(answer(with_jwks(list({rsa_signer().jwk("1")})),
                   secret_token(kAda, pem, object({{"alg", "HS256"}, {"kid", "1"}}))),
            wrong);
  EXPECT_EQ(answer(with_secret(), rsa_signer().token(kAda)), wrong);
  EXPECT_EQ(answer(with_pem(ec_signer()), rsa_signer().token(kAda)), wrong);
  // Keys that the token brings along.
  const Signer mallory = Signer::rsa();
  EXPECT_EQ(answer(rsa, mallory.token(kAda, object({{"jwk", mallory.jwk("1")}}))), wrong);
  EXPECT_EQ(answer(rsa, rsa_signer().token(kAda, parse_json(R"({"crit": ["b64"]})"))),
            "Invalid token: it needs extensions");
}

TEST(Auth, ASignatureIsOfOneText) {
  const std::string token = ec_signer().token(kAda);
  const JwtConfig jwt = with_pem(ec_signer());
  const std::size_t dot = token.rfind('.');
  const std::string text = token.substr(0, dot);
  const std::string signature = decode_base64url(token.substr(dot + 1));
  EXPECT_EQ(answer(jwt, text + "." + base64url(signature)), "ada");
  const std::string wrong = "Invalid token: its signature is wrong";
  // Two zeros verify everything where nobody looks.
  EXPECT_EQ(answer(jwt, text + "." + base64url(std::string(64, '\0'))), wrong);
  EXPECT_EQ(answer(jwt, text + "." + base64url(signature.substr(0, 63))), wrong);
  EXPECT_EQ(answer(jwt, text + "." + base64url(signature + "x")), wrong);
  const std::string header = text.substr(0, text.find('.'));
  const std::string mallory = base64url(to_json(object({{"sub", "root"}})));
  EXPECT_EQ(answer(jwt, header + "." + mallory + token.substr(dot)), wrong);
}

TEST(Auth, ABrokenTokenIsRefused) {
  const std::string token = secret_token(kAda);
  const Authenticator auth = authenticator(with_secret());
  for (std::size_t size = 0; size < token.size(); ++size) {
    EXPECT_NE(answer(auth, bearer(token.substr(0, size))), "ada") << size;
  }
  EXPECT_EQ(answer(auth, bearer(token + ".")), "Invalid token: it does not have three parts");
  EXPECT_EQ(answer(auth, bearer("a.b.c.d.e")), "Invalid token: it does not have three parts");
  EXPECT_EQ(answer(auth, bearer("..")), "Invalid token: it cannot be read");
  EXPECT_EQ(answer(auth, bearer(token + "=")), "Invalid token: it cannot be read");
  EXPECT_EQ(answer(auth, bearer(token + " ")), "Invalid token: it cannot be read");
  EXPECT_EQ(answer(auth, bearer(secret_token(list({1})))), "Invalid token: it cannot be read");
  const Value huge = kAda.set("x", std::string(20'000, 'x'));
  EXPECT_EQ(answer(auth, bearer(secret_token(huge))), "Invalid token: it is too long");
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "[";
  EXPECT_EQ(answer(auth, bearer(base64url(deep) + ".e30.")), "Invalid token: it cannot be read");
}

TEST(Auth, TokensAreValidForATime) {
  JwtConfig jwt = with_secret();
  jwt.leeway = std::chrono::seconds(10);
  const auto with = [&](const char* claim, Value value) {
    return answer(jwt, secret_token(object({{"sub", "ada"}, {claim, std::move(value)}})));
  };
  EXPECT_EQ(with("exp", kNow - 9), "ada");
  EXPECT_EQ(with("exp", kNow - 10), "Invalid token: it has expired");
  EXPECT_EQ(with("exp", -1e300), "Invalid token: it has expired");
  EXPECT_EQ(with("exp", 1e300), "ada");
  EXPECT_EQ(with("nbf", kNow + 10), "ada");
  EXPECT_EQ(with("nbf", kNow + 11), "Invalid token: it is not valid yet");
  EXPECT_EQ(with("iat", kNow + 10), "ada");
  EXPECT_EQ(with("iat", kNow + 11), "Invalid token: it was issued in the future");
  for (const Value& time : {Value("9999999999"), Value(true), Value(list())}) {
    EXPECT_EQ(with("exp", time), "Invalid token: exp is no time");
    EXPECT_EQ(with("nbf", time), "Invalid token: nbf is no time");
  }
  EXPECT_EQ(with("exp", Value::integer("99999999999999999999")), "Invalid token: exp is no time");
}

TEST(Auth, TokensAreFromSomebodyForSomebody) {
  JwtConfig jwt = with_secret();
  jwt.issuer = "https://issuer.example";
  jwt.audience = "clew";
  const auto with = [&](const Value& issuer, const Value& audience) {
    return answer(jwt, secret_token(kAda.set("iss", issuer).set("aud", audience)));
  };
  EXPECT_EQ(with("https://issuer.example", "clew"), "ada");
  EXPECT_EQ(with("https://issuer.example", list({"other", "clew"})), "ada");
  EXPECT_EQ(with("https://issuer.example/", "clew"), "Invalid token: its issuer is another");
  EXPECT_EQ(with({}, "clew"), "Invalid token: its issuer is another");
  EXPECT_EQ(with("https://issuer.example", "clews"), "Invalid token: its audience is another");
  EXPECT_EQ(with("https://issuer.example", list({"other"})),
            "Invalid token: its audience is another");
  EXPECT_EQ(with("https://issuer.example", {}), "Invalid token: its audience is another");
  EXPECT_EQ(with("https://issuer.example", object({{"clew", true}})),
            "Invalid token: its audience is another");
}

TEST(Auth, AnIdentityIsText) {
  const std::string nobody = "Invalid token: it does not say whose it is";
  for (const Value& identity : {Value(), Value(""), Value(7), Value(list({"ada"}))}) {
    EXPECT_EQ(answer(with_secret(), secret_token(object({{"sub", identity}}))), nobody);
  }
  JwtConfig jwt = with_secret();
  jwt.identity_claim = "email";
  EXPECT_EQ(answer(jwt, secret_token(kAda)), nobody);
  EXPECT_EQ(answer(jwt, secret_token(kAda.set("email", "a@b.example"))), "a@b.example");
}

TEST(Auth, GraphsSeeTheClaims) {
  const Value claims = kAda.merge(object({{"name", "Ada L."},
                                          {"scope", " read  write "},
                                          {"identity", "root"},
                                          {"is_authenticated", false}}));
  const Authenticator auth = authenticator(with_secret());
  const Caller ada = caller_of(auth, bearer(secret_token(claims)));
  EXPECT_EQ(ada.permissions, (std::vector<std::string>{"read", "write"}));
  EXPECT_EQ(ada.user["identity"], Value("ada"));
  EXPECT_EQ(ada.user["display_name"], Value("Ada L."));
  EXPECT_EQ(ada.user["is_authenticated"], Value(true));
  EXPECT_EQ(ada.user["exp"], Value(kNow + 60));
  EXPECT_EQ(ada.user["scope"], Value(" read  write "));
  EXPECT_EQ(to_json(ada.user["permissions"]), R"(["read","write"])");
  const Value listed = claims.set("permissions", list({"threads:read", 7}));
  EXPECT_EQ(caller_of(auth, bearer(secret_token(listed))).permissions,
            std::vector<std::string>{"threads:read"});
}

// Sets of keys ------------------------------------------------------------------

TEST(Auth, ASetOfKeysIsSearchedById) {
  const Signer second = Signer::rsa();
  const std::string wrong = "Invalid token: its signature is wrong";
  const JwtConfig jwt =
      with_jwks(list({rsa_signer().jwk("one"), second.jwk("two"), ec_signer().jwk("three")}));
  const auto id = [](const char* text) { return object({{"kid", text}}); };
  EXPECT_EQ(answer(jwt, rsa_signer().token(kAda, id("one"))), "ada");
  EXPECT_EQ(answer(jwt, second.token(kAda, id("two"))), "ada");
  EXPECT_EQ(answer(jwt, ec_signer().token(kAda, id("three"))), "ada");
  EXPECT_EQ(answer(jwt, second.token(kAda, id("one"))), wrong);
  EXPECT_EQ(answer(jwt, rsa_signer().token(kAda, id("three"))), wrong);
  EXPECT_EQ(answer(jwt, rsa_signer().token(kAda, id("four"))), wrong);
  EXPECT_EQ(answer(jwt, rsa_signer().token(kAda, id(""))), wrong);
  EXPECT_EQ(answer(jwt, rsa_signer().token(kAda)), wrong);  // which of the two?
  EXPECT_EQ(answer(jwt, ec_signer().token(kAda)), "ada");   // there is one
  EXPECT_EQ(answer(with_pem(rsa_signer()), rsa_signer().token(kAda, id("four"))), "ada");
}

TEST(Auth, KeysForOtherPurposesAreLeftOut) {
  const Value encrypting = Signer::rsa().jwk("1").set("use", "enc");
  const Value wrapping = Signer::rsa().jwk("2").set("key_ops", list({"wrapKey"}));
  const Value shared = object({{"kty", "oct"}, {"k", base64url(kSecret)}, {"kid", "3"}});
  const Value longer = rsa_signer().jwk("4").set("alg", "RS512");
  const JwtConfig jwt =
      with_jwks(list({encrypting, wrapping, shared, longer, ec_signer().jwk("5")}));
  EXPECT_EQ(authenticator(jwt).describe(), "JWT ES256");
  EXPECT_EQ(answer(jwt, secret_token(kAda, kSecret, object({{"alg", "HS256"}, {"kid", "3"}}))),
            "Invalid token: its signature is wrong");
  EXPECT_EQ(problem(with_jwks(list({encrypting, shared}))),
            "auth.jwt.jwks: it has no key for RS256 or ES256 signatures");
}

TEST(Auth, KeysThatCannotBeUsedAreAnError) {
  JwtConfig jwt = with_pem(Signer::rsa(1024));
  EXPECT_EQ(problem(jwt),
            "auth.jwt.public_key: an RSA key of 1024 bits is too weak; use 2048 or more");
  EXPECT_EQ(problem(with_pem(Signer::ec("P-384"))),
            "auth.jwt.public_key: ES256 needs a key on P-256, not on secp384r1");
  jwt.public_key = "a public key";
  EXPECT_EQ(problem(jwt),
            "auth.jwt.public_key: expected a public key in PEM, \"-----BEGIN PUBLIC KEY-----\"");
  jwt = with_pem(ec_signer());
  jwt.algorithm = "RS256";
  EXPECT_EQ(problem(jwt), "auth.jwt.algorithm: there is no key for RS256");
  jwt = {};
  jwt.secret = rsa_signer().pem();
  EXPECT_EQ(problem(jwt),
            "auth.jwt.secret_env: the secret is a key in PEM; give it as \"public_key\"");
  jwt = {};
  jwt.jwks = R"({"keys": 7})";
  EXPECT_EQ(problem(jwt), "auth.jwt.jwks: expected {\"keys\": [...]}");
  const Value key = ec_signer().jwk("1");
  EXPECT_EQ(problem(with_jwks(list({key, key}))),
            "auth.jwt.jwks: $.keys[1]: another key has the same \"kid\"");
  EXPECT_EQ(problem(with_jwks(list({key.erase("x")}))),
            "auth.jwt.jwks: $.keys[0]: \"x\" is missing");
  EXPECT_EQ(problem(with_jwks(list({key.set("x", key["y"])}))),
            "auth.jwt.jwks: $.keys[0]: the numbers are no EC key");
  AuthConfig config;
  config.api_keys = {{"", "alice", {}}};
  EXPECT_THROW(authenticator(config), ConfigError);
}

}  // namespace
}  // namespace clew::server
