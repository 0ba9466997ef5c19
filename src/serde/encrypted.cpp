#include <clew/encrypted.hpp>

namespace clew {

EncryptedSerializer::EncryptedSerializer(std::shared_ptr<const Cipher> cipher,
                                         EncryptedOptions options)
    : cipher_(std::move(cipher)), options_(std::move(options)) {
  if (!cipher_) {
    throw Error("EncryptedSerializer needs a cipher, such as AesEaxCipher::from_environment()");
  }
  if (!options_.inner) options_.inner = std::make_shared<JsonPlusSerializer>();
}

TypedBytes EncryptedSerializer::dumps_typed(const Value& value) const {
  TypedBytes plain = options_.inner->dumps_typed(value);
  return {plain.tag + "+" + std::string(cipher_->name()), cipher_->encrypt(plain.bytes)};
}

Value EncryptedSerializer::loads_typed(std::string_view tag, std::string_view bytes) const {
  const std::size_t plus = tag.find('+');
  if (plus == std::string_view::npos) {
    if (options_.allow_plaintext) return options_.inner->loads_typed(tag, bytes);
    throw CryptoError("a row of tag '" + std::string(tag) +
                      "' is not encrypted; to read rows from before encryption was turned on, set "
                      "EncryptedOptions::allow_plaintext");
  }
  const std::string_view cipher_name = tag.substr(plus + 1);
  if (cipher_name != cipher_->name()) {
    throw CryptoError("unsupported cipher '" + std::string(cipher_name) +
                      "'; this serializer has '" + std::string(cipher_->name()) + "'");
  }
  return options_.inner->loads_typed(tag.substr(0, plus), cipher_->decrypt(bytes));
}

}  // namespace clew
