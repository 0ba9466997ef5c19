#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <clew/cipher.hpp>
#include <clew/error.hpp>

#include "serde/openssl_free.hpp"

namespace clew {
namespace {

constexpr std::size_t kBlockSize = 16;
constexpr std::size_t kNonceSize = 16;
constexpr std::size_t kMacSize = 16;
constexpr std::size_t kHeaderSize = kNonceSize + kMacSize;

constexpr const char* kKeyVariable = "LANGGRAPH_AES_KEY";

using Block = std::array<std::uint8_t, kBlockSize>;

using CipherPtr = std::unique_ptr<EVP_CIPHER, internal::OpensslFree<EVP_CIPHER_free>>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, internal::OpensslFree<EVP_CIPHER_CTX_free>>;
using MacPtr = std::unique_ptr<EVP_MAC, internal::OpensslFree<EVP_MAC_free>>;
using MacContext = std::unique_ptr<EVP_MAC_CTX, internal::OpensslFree<EVP_MAC_CTX_free>>;

[[noreturn]] void openssl_failed(const char* action) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  std::string message = std::string("OpenSSL cannot ") + action;
  if (reason != nullptr) message += std::string(": ") + reason;
  ERR_clear_error();
  throw CryptoError(message);
}

[[noreturn]] void mac_failed() {
  ERR_clear_error();
  throw CryptoError("MAC check failed: the key is wrong or the data is damaged");
}

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

std::uint8_t* bytes_of(std::string& text) { return reinterpret_cast<std::uint8_t*>(text.data()); }

// The key bytes, wiped when dropped.
class AesKey {
 public:
  explicit AesKey(std::string_view key) : size_(key.size()) {
    if (!valid_size(key.size())) {
      throw CryptoError("an AES key must be 16, 24 or 32 bytes long, but this one has " +
                        std::to_string(key.size()) + "; pass the raw bytes, not hex or base64");
    }
    std::copy(key.begin(), key.end(), bytes_.begin());
  }
  AesKey(const AesKey&) = delete;
  AesKey& operator=(const AesKey&) = delete;
  ~AesKey() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  static bool valid_size(std::size_t size) { return size == 16 || size == 24 || size == 32; }

  const std::uint8_t* data() const { return bytes_.data(); }
  std::size_t size() const { return size_; }

  // "AES-256-" followed by the mode.
  std::string algorithm(const char* mode) const {
    return "AES-" + std::to_string(size_ * 8) + "-" + mode;
  }

 private:
  std::array<std::uint8_t, 32> bytes_{};
  std::size_t size_;
};

std::string_view key_from_environment() {
  const char* value = std::getenv(kKeyVariable);
  const std::string variable = kKeyVariable;
  if (value == nullptr) {
    throw CryptoError(variable +
                      " environment variable is not set; set it to a key of 16, 24 or 32 bytes, "
                      "or pass the key to the cipher");
  }
  const std::string_view key = value;
  if (!AesKey::valid_size(key.size())) {
    throw CryptoError(variable + " must be 16, 24, or 32 bytes long, but has " +
                      std::to_string(key.size()) +
                      "; its bytes are the key itself, neither hex nor base64");
  }
  return key;
}

void random_nonce(std::span<std::uint8_t, kNonceSize> nonce) {
  if (RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) != 1) {
    openssl_failed("make random bytes for a nonce");
  }
}

// The parts of a stored payload.
struct Sealed {
  std::string_view nonce;
  std::string_view mac;
  std::string_view ciphertext;
};

Sealed split(std::string_view data) {
  if (data.size() < kHeaderSize) {
    throw CryptoError("MAC check failed: " + std::to_string(data.size()) +
                      " bytes cannot hold a nonce and a MAC (32 bytes); the data is truncated or "
                      "was never encrypted");
  }
  return {data.substr(0, kNonceSize), data.substr(kNonceSize, kMacSize), data.substr(kHeaderSize)};
}

CipherPtr fetch_cipher(const std::string& algorithm) {
  CipherPtr cipher(EVP_CIPHER_fetch(nullptr, algorithm.c_str(), nullptr));
  if (cipher == nullptr) openssl_failed(("provide " + algorithm).c_str());
  return cipher;
}

CipherContext new_cipher_context() {
  CipherContext context(EVP_CIPHER_CTX_new());
  if (context == nullptr) openssl_failed("allocate a cipher context");
  return context;
}

// EVP counts in int; larger inputs go through it in pieces. The modes used here
// are stream ciphers, so each piece gives as many bytes as it takes.
void update(EVP_CIPHER_CTX* context, std::string_view input, std::uint8_t* output) {
  constexpr std::size_t kLargestPiece = std::size_t{1} << 30;
  while (!input.empty()) {
    const std::size_t size = std::min(input.size(), kLargestPiece);
    int written = 0;
    if (EVP_CipherUpdate(context, output, &written, bytes_of(input), static_cast<int>(size)) != 1 ||
        static_cast<std::size_t>(written) != size) {
      openssl_failed("run AES");
    }
    input.remove_prefix(size);
    output += size;
  }
}

// CMAC contexts that have the key and the block that EAX puts before each kind
// of input. Copying one is much cheaper than setting a key.
class Omac {
 public:
  Omac(EVP_MAC* mac, const AesKey& key, std::uint8_t kind) : context_(EVP_MAC_CTX_new(mac)) {
    if (context_ == nullptr) openssl_failed("allocate a CMAC context");
    std::string algorithm = key.algorithm("CBC");
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, algorithm.data(), 0),
        OSSL_PARAM_construct_end()};
    Block tweak{};
    tweak.back() = kind;
    if (EVP_MAC_init(context_.get(), key.data(), key.size(), parameters) != 1 ||
        EVP_MAC_update(context_.get(), tweak.data(), tweak.size()) != 1) {
      openssl_failed("set up CMAC");
    }
  }

  Block operator()(std::string_view input) const {
    MacContext context(EVP_MAC_CTX_dup(context_.get()));
    if (context == nullptr) openssl_failed("copy a CMAC context");
    Block result;
    std::size_t size = 0;
    if (EVP_MAC_update(context.get(), bytes_of(input), input.size()) != 1 ||
        EVP_MAC_final(context.get(), result.data(), &size, result.size()) != 1 ||
        size != result.size()) {
      openssl_failed("run CMAC");
    }
    return result;
  }

 private:
  MacContext context_;
};

MacPtr fetch_cmac() {
  MacPtr mac(EVP_MAC_fetch(nullptr, "CMAC", nullptr));
  if (mac == nullptr) openssl_failed("provide CMAC");
  return mac;
}

Block exclusive_or(const Block& a, const Block& b, const Block& c) {
  Block result;
  for (std::size_t i = 0; i < kBlockSize; ++i) {
    result[i] = static_cast<std::uint8_t>(a[i] ^ b[i] ^ c[i]);
  }
  return result;
}

}  // namespace

// ---- EAX: Bellare, Rogaway, Wagner, "The EAX Mode of Operation"

struct AesEaxCipher::State {
  State(std::string_view raw_key, NonceSource nonce_source)
      : key(raw_key),
        nonces(std::move(nonce_source)),
        counter_mode(fetch_cipher(key.algorithm("CTR"))),
        mac(fetch_cmac()),
        nonce_mac(mac.get(), key, 0),
        ciphertext_mac(mac.get(), key, 2),
        header_mac(Omac(mac.get(), key, 1)(std::string_view())) {}

  Block tag(const Block& counter, std::string_view ciphertext) const {
    return exclusive_or(counter, header_mac, ciphertext_mac(ciphertext));
  }

  // Counter mode is its own inverse.
  void apply_counter_mode(const Block& counter, std::string_view input,
                          std::uint8_t* output) const {
    const CipherContext context = new_cipher_context();
    if (EVP_EncryptInit_ex2(context.get(), counter_mode.get(), key.data(), counter.data(),
                            nullptr) != 1) {
      openssl_failed("set up AES in counter mode");
    }
    update(context.get(), input, output);
  }

  AesKey key;
  NonceSource nonces;
  CipherPtr counter_mode;
  MacPtr mac;
  Omac nonce_mac;
  Omac ciphertext_mac;
  Block header_mac;  // of the associated data, of which LangGraph has none
};

AesEaxCipher::AesEaxCipher(std::string_view key) : AesEaxCipher(key, random_nonce) {}

AesEaxCipher::AesEaxCipher(std::string_view key, NonceSource nonces)
    : state_(std::make_unique<const State>(key, std::move(nonces))) {}

AesEaxCipher::~AesEaxCipher() = default;

std::unique_ptr<AesEaxCipher> AesEaxCipher::from_environment() {
  return std::make_unique<AesEaxCipher>(key_from_environment());
}

std::string AesEaxCipher::encrypt(std::string_view plaintext) const {
  std::string data(kHeaderSize + plaintext.size(), '\0');
  std::uint8_t* const out = bytes_of(data);
  state_->nonces(std::span<std::uint8_t, kNonceSize>(out, kNonceSize));

  const Block counter = state_->nonce_mac(std::string_view(data).substr(0, kNonceSize));
  state_->apply_counter_mode(counter, plaintext, out + kHeaderSize);
  const Block tag = state_->tag(counter, std::string_view(data).substr(kHeaderSize));
  std::copy(tag.begin(), tag.end(), out + kNonceSize);
  return data;
}

std::string AesEaxCipher::decrypt(std::string_view data) const {
  const Sealed sealed = split(data);
  const Block counter = state_->nonce_mac(sealed.nonce);
  const Block tag = state_->tag(counter, sealed.ciphertext);
  if (CRYPTO_memcmp(tag.data(), sealed.mac.data(), kMacSize) != 0) mac_failed();

  std::string plaintext(sealed.ciphertext.size(), '\0');
  state_->apply_counter_mode(counter, sealed.ciphertext, bytes_of(plaintext));
  return plaintext;
}

// ---- GCM

struct AesGcmCipher::State {
  State(std::string_view raw_key, NonceSource nonce_source)
      : key(raw_key),
        nonces(std::move(nonce_source)),
        galois_counter_mode(fetch_cipher(key.algorithm("GCM"))) {}

  CipherContext context(const std::uint8_t* nonce, bool encrypt) const {
    CipherContext result = new_cipher_context();
    std::size_t nonce_size = kNonceSize;  // GCM's own default is 12
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, &nonce_size),
        OSSL_PARAM_construct_end()};
    if (EVP_CipherInit_ex2(result.get(), galois_counter_mode.get(), nullptr, nullptr,
                           encrypt ? 1 : 0, parameters) != 1 ||
        EVP_CipherInit_ex2(result.get(), nullptr, key.data(), nonce, encrypt ? 1 : 0, nullptr) !=
            1) {
      openssl_failed("set up AES in Galois counter mode");
    }
    return result;
  }

  AesKey key;
  NonceSource nonces;
  CipherPtr galois_counter_mode;
};

AesGcmCipher::AesGcmCipher(std::string_view key) : AesGcmCipher(key, random_nonce) {}

AesGcmCipher::AesGcmCipher(std::string_view key, NonceSource nonces)
    : state_(std::make_unique<const State>(key, std::move(nonces))) {}

AesGcmCipher::~AesGcmCipher() = default;

std::unique_ptr<AesGcmCipher> AesGcmCipher::from_environment() {
  return std::make_unique<AesGcmCipher>(key_from_environment());
}

std::string AesGcmCipher::encrypt(std::string_view plaintext) const {
  std::string data(kHeaderSize + plaintext.size(), '\0');
  std::uint8_t* const out = bytes_of(data);
  state_->nonces(std::span<std::uint8_t, kNonceSize>(out, kNonceSize));

  const CipherContext context = state_->context(out, true);
  update(context.get(), plaintext, out + kHeaderSize);
  Block unused;
  int written = 0;
  if (EVP_EncryptFinal_ex(context.get(), unused.data(), &written) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kMacSize, out + kNonceSize) != 1) {
    openssl_failed("finish AES in Galois counter mode");
  }
  return data;
}

std::string AesGcmCipher::decrypt(std::string_view data) const {
  const Sealed sealed = split(data);
  const CipherContext context = state_->context(bytes_of(sealed.nonce), false);
  Block tag;
  std::copy(sealed.mac.begin(), sealed.mac.end(), tag.begin());
  if (EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kMacSize, tag.data()) != 1) {
    openssl_failed("set the MAC to check");
  }

  std::string plaintext(sealed.ciphertext.size(), '\0');
  update(context.get(), sealed.ciphertext, bytes_of(plaintext));
  Block unused;
  int written = 0;
  // OpenSSL compares the MACs in constant time. What it has deciphered by then
  // is not to be trusted and not to be left in memory either.
  if (EVP_DecryptFinal_ex(context.get(), unused.data(), &written) != 1) {
    OPENSSL_cleanse(plaintext.data(), plaintext.size());
    mac_failed();
  }
  return plaintext;
}

}  // namespace clew
