// A serializer that encrypts what another one writes.
//
//   auto serializer = std::make_shared<EncryptedSerializer>(AesEaxCipher::from_environment());
//
// Compatible with LangGraph's EncryptedSerializer: the tag becomes
// "<inner tag>+<cipher name>", the bytes what the cipher made of the inner ones.
#pragma once

#include <memory>

#include <clew/cipher.hpp>
#include <clew/serde.hpp>

namespace clew {

struct EncryptedOptions {
  // What is encrypted. Null: a JsonPlusSerializer.
  std::shared_ptr<const Serializer> inner;

  // Also read rows that are not encrypted: for moving old data. Whoever can
  // write to the database can then plant rows, so turn it off afterwards.
  bool allow_plaintext = false;
};

// All methods may be called from any thread.
class EncryptedSerializer final : public Serializer {
 public:
  explicit EncryptedSerializer(std::shared_ptr<const Cipher> cipher, EncryptedOptions options = {});

  using Serializer::loads_typed;
  TypedBytes dumps_typed(const Value& value) const override;

  // Throws CryptoError for a row that is not encrypted (unless allowed), that
  // another cipher wrote, or that the key does not open.
  Value loads_typed(std::string_view tag, std::string_view bytes) const override;

 private:
  std::shared_ptr<const Cipher> cipher_;
  EncryptedOptions options_;
};

}  // namespace clew
