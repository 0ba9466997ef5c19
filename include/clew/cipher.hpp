// A Cipher turns serialized bytes into bytes that only its key opens.
// EncryptedSerializer puts one between a serializer and a checkpointer.
//
//   auto cipher = clew::AesEaxCipher::from_environment();   // LANGGRAPH_AES_KEY
//   std::string stored = cipher->encrypt(bytes);
//   std::string bytes_again = cipher->decrypt(stored);      // throws if anything was changed
//
// The two AES ciphers read and write what LangGraph's EncryptedSerializer does:
// nonce (16 bytes), MAC (16 bytes), ciphertext; no associated data.
//
// encrypt() and decrypt() of one cipher may be called from any thread at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace clew {

class Cipher {
 public:
  Cipher() = default;
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  virtual ~Cipher() = default;

  // What the type tag of a stored value calls this cipher: "aes" in
  // "msgpack+aes". Persisted: never rename.
  virtual std::string_view name() const noexcept = 0;

  // Throws CryptoError if the cryptographic library fails.
  virtual std::string encrypt(std::string_view plaintext) const = 0;

  // The plaintext of what encrypt() returned. Throws CryptoError if the key is
  // another one or the data was changed in any way; nothing of it is returned.
  virtual std::string decrypt(std::string_view data) const = 0;
};

// Fills a nonce with bytes that never repeat under one key. Encrypting twice
// with the same nonce gives the plaintexts away, so only tests provide one.
using NonceSource = std::function<void(std::span<std::uint8_t, 16> nonce)>;

// AES in EAX mode, the default of LangGraph's from_pycryptodome_aes.
class AesEaxCipher final : public Cipher {
 public:
  // A key of 16, 24 or 32 bytes picks AES-128, AES-192 or AES-256; throws
  // CryptoError for any other length. The cipher's copy is wiped with it.
  explicit AesEaxCipher(std::string_view key);
  AesEaxCipher(std::string_view key, NonceSource nonces);
  ~AesEaxCipher() override;

  // The key is the value of LANGGRAPH_AES_KEY, byte by byte (neither hex nor
  // base64). Throws CryptoError if it is not set or has another length.
  static std::unique_ptr<AesEaxCipher> from_environment();

  std::string_view name() const noexcept override { return "aes"; }
  std::string encrypt(std::string_view plaintext) const override;
  std::string decrypt(std::string_view data) const override;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

// AES in GCM mode, LangGraph's mode=AES.MODE_GCM. The stored form does not say
// which mode it is in: whoever reads must use the mode that wrote.
class AesGcmCipher final : public Cipher {
 public:
  // Keys as for AesEaxCipher.
  explicit AesGcmCipher(std::string_view key);
  AesGcmCipher(std::string_view key, NonceSource nonces);
  ~AesGcmCipher() override;

  static std::unique_ptr<AesGcmCipher> from_environment();

  std::string_view name() const noexcept override { return "aes"; }
  std::string encrypt(std::string_view plaintext) const override;
  std::string decrypt(std::string_view data) const override;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace clew
