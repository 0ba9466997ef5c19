#include "server/jwt_key.hpp"

#include <array>
#include <cstdint>
#include <deque>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <clew/json.hpp>

#include "serde/openssl_free.hpp"

namespace clew::server {
namespace {

using Bio = std::unique_ptr<BIO, internal::OpensslFree<BIO_free>>;
using BigNumber = std::unique_ptr<BIGNUM, internal::OpensslFree<BN_free>>;
using EcdsaSignature = std::unique_ptr<ECDSA_SIG, internal::OpensslFree<ECDSA_SIG_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, internal::OpensslFree<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, internal::OpensslFree<EVP_MD_CTX_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, internal::OpensslFree<OSSL_PARAM_free>>;
using ParametersBuilder =
    std::unique_ptr<OSSL_PARAM_BLD, internal::OpensslFree<OSSL_PARAM_BLD_free>>;
using PublicKey = std::unique_ptr<EVP_PKEY, internal::OpensslFree<EVP_PKEY_free>>;

constexpr int kFewestRsaBits = 2048;
constexpr std::size_t kCoordinateSize = 32;  // of P-256

// What OpenSSL has to say about a refused input stays in a queue of the thread.
[[noreturn]] void fail(const std::string& reason) {
  ERR_clear_error();
  throw ValueError(reason);
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Keys --------------------------------------------------------------------------

class SecretKey final : public JwtKey {
 public:
  explicit SecretKey(std::string_view secret) : secret_(secret) {}
  ~SecretKey() override { OPENSSL_cleanse(secret_.data(), secret_.size()); }

  std::string_view algorithm() const override { return "HS256"; }

  bool is_signature_of(std::string_view signature, std::string_view text) const override {
    std::array<unsigned char, EVP_MAX_MD_SIZE> expected;
    std::size_t size = 0;
    if (EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, secret_.data(), secret_.size(),
                  bytes_of(text), text.size(), expected.data(), expected.size(),
                  &size) == nullptr) {
      fail("OpenSSL cannot compute HMAC-SHA256");
    }
    return signature.size() == size && CRYPTO_memcmp(signature.data(), expected.data(), size) == 0;
  }

 private:
  std::string secret_;
};

bool verify_sha256(EVP_PKEY* key, std::string_view signature, std::string_view text) {
  const DigestContext context(EVP_MD_CTX_new());
  if (!context || EVP_DigestVerifyInit_ex(context.get(), nullptr, "SHA256", nullptr, nullptr, key,
                                          nullptr) != 1) {
    fail("OpenSSL cannot check signatures");
  }
  const int result = EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(),
                                      bytes_of(text), text.size());
  ERR_clear_error();
  return result == 1;
}

class RsaKey final : public JwtKey {
 public:
  explicit RsaKey(PublicKey key) : key_(std::move(key)) {}

  std::string_view algorithm() const override { return "RS256"; }

  bool is_signature_of(std::string_view signature, std::string_view text) const override {
    return verify_sha256(key_.get(), signature, text);
  }

 private:
  PublicKey key_;
};

// A token has the two numbers of the signature side by side, OpenSSL wants them in DER.
std::string der_signature(std::string_view signature) {
  BigNumber r(BN_bin2bn(bytes_of(signature), kCoordinateSize, nullptr));
  BigNumber s(BN_bin2bn(bytes_of(signature) + kCoordinateSize, kCoordinateSize, nullptr));
  const EcdsaSignature numbers(ECDSA_SIG_new());
  if (!r || !s || !numbers || ECDSA_SIG_set0(numbers.get(), r.get(), s.get()) != 1) {
    fail("OpenSSL has no memory");
  }
  r.release();
  s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(numbers.get(), &der);
  if (size <= 0) fail("OpenSSL cannot write a signature");
  const std::unique_ptr<unsigned char, decltype([](unsigned char* data) { OPENSSL_free(data); })>
      owned(der);
  return {reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)};
}

class EcKey final : public JwtKey {
 public:
  explicit EcKey(PublicKey key) : key_(std::move(key)) {}

  std::string_view algorithm() const override { return "ES256"; }

  bool is_signature_of(std::string_view signature, std::string_view text) const override {
    if (signature.size() != 2 * kCoordinateSize) return false;
    return verify_sha256(key_.get(), der_signature(signature), text);
  }

 private:
  PublicKey key_;
};

std::string curve_of(EVP_PKEY* key) {
  char name[64] = {};
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key, name, sizeof name, &size) != 1) return "an unknown curve";
  return {name, size};
}

std::unique_ptr<JwtKey> checked_key(PublicKey key) {
  const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  if (!context || EVP_PKEY_public_check(context.get()) != 1) fail("the key is damaged");
  if (EVP_PKEY_is_a(key.get(), "RSA") == 1) {
    const int bits = EVP_PKEY_get_bits(key.get());
    if (bits < kFewestRsaBits) {
      fail("an RSA key of " + std::to_string(bits) + " bits is too weak; use 2048 or more");
    }
    return std::make_unique<RsaKey>(std::move(key));
  }
  if (EVP_PKEY_is_a(key.get(), "EC") == 1) {
    const std::string curve = curve_of(key.get());
    if (curve != SN_X9_62_prime256v1) fail("ES256 needs a key on P-256, not on " + curve);
    return std::make_unique<EcKey>(std::move(key));
  }
  fail("expected an RSA key or an elliptic curve key on P-256");
}

// JWKS --------------------------------------------------------------------------

class KeyParameters {
 public:
  KeyParameters() : builder_(OSSL_PARAM_BLD_new()) { require(builder_ != nullptr); }

  void text(const char* name, const char* value) {
    require(OSSL_PARAM_BLD_push_utf8_string(builder_.get(), name, value, 0) == 1);
  }
  void bytes(const char* name, std::string value) {
    texts_.push_back(std::move(value));
    require(OSSL_PARAM_BLD_push_octet_string(builder_.get(), name, texts_.back().data(),
                                             texts_.back().size()) == 1);
  }
  void number(const char* name, const std::string& value) {
    numbers_.emplace_back(BN_bin2bn(bytes_of(value), static_cast<int>(value.size()), nullptr));
    require(numbers_.back() != nullptr &&
            OSSL_PARAM_BLD_push_BN(builder_.get(), name, numbers_.back().get()) == 1);
  }

  PublicKey key(const char* type) {
    const Parameters parameters(OSSL_PARAM_BLD_to_param(builder_.get()));
    const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
    EVP_PKEY* key = nullptr;
    if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
      fail("the numbers are no " + std::string(type) + " key");
    }
    return PublicKey(key);
  }

 private:
  static void require(bool is_good) {
    if (!is_good) fail("OpenSSL cannot take a key's numbers");
  }

  ParametersBuilder builder_;
  // The builder looks at these until the end.
  std::deque<std::string> texts_;
  std::vector<BigNumber> numbers_;
};

std::string number_field(const Value& jwk, const char* name, std::size_t longest) {
  const Value& field = jwk[name];
  if (!field.is_string()) fail(std::string("\"") + name + "\" is missing");
  std::string bytes = decode_base64url(field.as_string());
  if (bytes.empty() || bytes.size() > longest) {
    fail(std::string("\"") + name + "\" has a wrong length");
  }
  return bytes;
}

std::string coordinate(const Value& jwk, const char* name) {
  const std::string bytes = number_field(jwk, name, kCoordinateSize);
  return std::string(kCoordinateSize - bytes.size(), '\0') + bytes;
}

PublicKey rsa_key_of(const Value& jwk) {
  constexpr std::size_t kLongest = 2048;  // 16384 bits
  KeyParameters parameters;
  parameters.number(OSSL_PKEY_PARAM_RSA_N, number_field(jwk, "n", kLongest));
  parameters.number(OSSL_PKEY_PARAM_RSA_E, number_field(jwk, "e", kLongest));
  return parameters.key("RSA");
}

PublicKey ec_key_of(const Value& jwk) {
  KeyParameters parameters;
  parameters.text(OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1);
  parameters.bytes(OSSL_PKEY_PARAM_PUB_KEY, '\x04' + coordinate(jwk, "x") + coordinate(jwk, "y"));
  return parameters.key("EC");
}

bool is_absent_or(const Value& field, std::string_view text) {
  return field.is_null() || field == Value(text);
}

bool may_verify(const Value& jwk) {
  const Value& operations = jwk["key_ops"];
  if (!is_absent_or(jwk["use"], "sig")) return false;
  if (!operations.is_list()) return operations.is_null();
  for (const Value& operation : operations) {
    if (operation == Value("verify")) return true;
  }
  return false;
}

// Nothing for a key of another kind or purpose.
std::unique_ptr<JwtKey> key_of_jwk(const Value& jwk) {
  if (!jwk.is_object()) fail("expected an object");
  if (!may_verify(jwk)) return nullptr;
  if (jwk["kty"] == Value("RSA") && is_absent_or(jwk["alg"], "RS256")) {
    return checked_key(rsa_key_of(jwk));
  }
  if (jwk["kty"] == Value("EC") && is_absent_or(jwk["alg"], "ES256") &&
      jwk["crv"] == Value("P-256")) {
    return checked_key(ec_key_of(jwk));
  }
  return nullptr;
}

void set_id(JwtKey& key, const Value& jwk, const JwtKeys& others) {
  const Value& id = jwk["kid"];
  if (id.is_null()) return;
  if (!id.is_string() || id.as_string().empty()) fail("\"kid\" is no text");
  key.id = id.as_string();
  for (const auto& other : others) {
    if (other->id == key.id && other->algorithm() == key.algorithm()) {
      fail("another key has the same \"kid\"");
    }
  }
}

}  // namespace

std::unique_ptr<const JwtKey> secret_key(std::string_view secret) {
  if (secret.empty()) fail("the secret is empty");
  // Everybody has a public key, and could sign with it.
  if (secret.find("-----BEGIN") != std::string_view::npos) {
    fail("the secret is a key in PEM; give it as \"public_key\"");
  }
  return std::make_unique<SecretKey>(secret);
}

std::unique_ptr<const JwtKey> public_key_of_pem(std::string_view pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!bio) fail("OpenSSL has no memory");
  PublicKey key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
  if (!key) fail("expected a public key in PEM, \"-----BEGIN PUBLIC KEY-----\"");
  return checked_key(std::move(key));
}

JwtKeys public_keys_of_jwks(std::string_view json) {
  Value document;
  try {
    document = parse_json(json);
  } catch (const SerdeError& error) {
    fail(error.what());
  }
  const Value& entries = document["keys"];
  if (!entries.is_list()) fail("expected {\"keys\": [...]}");
  JwtKeys keys;
  for (std::size_t index = 0; index < entries.size(); ++index) {
    const Value& jwk = entries[index];
    try {
      std::unique_ptr<JwtKey> key = key_of_jwk(jwk);
      if (!key) continue;
      set_id(*key, jwk, keys);
      keys.push_back(std::move(key));
    } catch (ValueError& error) {
      error.prepend(path_step(index));
      error.prepend(path_step("keys"));
      throw;
    }
  }
  if (keys.empty()) fail("it has no key for RS256 or ES256 signatures");
  return keys;
}

std::string decode_base64url(std::string_view text) {
  const auto digit_of = [](char c) -> std::uint32_t {
    if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
    if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a') + 26;
    if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0') + 52;
    if (c == '-') return 62;
    if (c == '_') return 63;
    throw ValueError("text is not base64url");
  };
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    bits = (bits << 6 | digit_of(c)) & 0xFFFF;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  // What is left over must be nothing: two texts that mean the same are one too many.
  if (count >= 6 || (bits & ((1U << count) - 1)) != 0) throw ValueError("text is not base64url");
  return bytes;
}

}  // namespace clew::server
