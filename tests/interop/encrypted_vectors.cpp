#include <stdlib.h>

#include <algorithm>
#include <memory>
#include <string>

#include <clew/canonical.hpp>
#include <clew/encrypted.hpp>

#include "vectors.hpp"

namespace clew::interop {
namespace {

constexpr char kKeyVariable[] = "LANGGRAPH_AES_KEY";

// A pair of tag and bytes as a vector records them.
TypedBytes stored(const Value& recorded) {
  return {std::string(recorded.at("tag").as_string()), from_hex(recorded.at("hex").as_string())};
}

NonceSource same_nonce(std::string nonce) {
  return [nonce = std::move(nonce)](std::span<std::uint8_t, 16> out) {
    if (nonce.size() != out.size()) throw Mismatch("the recorded nonce is not 16 bytes");
    std::copy(nonce.begin(), nonce.end(), out.begin());
  };
}

std::shared_ptr<const Cipher> make_cipher(const Value& recorded, NonceSource nonces) {
  const std::string key = from_hex(recorded.at("key_hex").as_string());
  const Value& mode = recorded["mode"];
  if (mode == Value("GCM")) return std::make_shared<AesGcmCipher>(key, std::move(nonces));
  if (mode.is_null() || mode == Value("EAX")) {
    return std::make_shared<AesEaxCipher>(key, std::move(nonces));
  }
  throw Mismatch("this tool does not know the mode " + std::string(mode.as_string()));
}

void expect_stored(std::string_view what, const TypedBytes& expected, const TypedBytes& got) {
  expect_equal(what, expected.tag + " " + to_hex(expected.bytes),
               got.tag + " " + to_hex(got.bytes));
}

// A row from before encryption was turned on.
void check_plaintext(const Value& recorded) {
  const auto cipher = make_cipher(recorded, same_nonce(""));
  const EncryptedSerializer strict(cipher);
  expect_refused<CryptoError>("a row that is not encrypted",
                              [&] { strict.loads_typed(stored(recorded)); });
  EncryptedOptions options;
  options.allow_plaintext = true;
  const EncryptedSerializer lenient(cipher, options);
  expect_same_json("canonical", recorded.at("canonical"),
                   canonical(lenient.loads_typed(stored(recorded))));
}

void check_case(const Value& recorded) {
  const TypedBytes sealed = stored(recorded);
  if (sealed.tag.find('+') == std::string::npos) return check_plaintext(recorded);

  const auto cipher = make_cipher(recorded, same_nonce(sealed.bytes.substr(0, 16)));
  const EncryptedSerializer serializer(cipher);
  const TypedBytes plain{std::string(recorded.at("plain_tag").as_string()),
                         from_hex(recorded.at("plain_hex").as_string())};
  expect_equal("tag", plain.tag + "+aes", sealed.tag);
  expect_equal("decrypted bytes", to_hex(plain.bytes), to_hex(cipher->decrypt(sealed.bytes)));

  const Value value = serializer.loads_typed(sealed);
  expect_same_json("canonical", recorded.at("canonical"), canonical(value));
  expect_stored("stored without encryption", plain, JsonPlusSerializer().dumps_typed(value));
  // The recorded nonce is used again also where it was random: it stands in the bytes.
  expect_stored("encrypted again", sealed, serializer.dumps_typed(value));
}

void check_must_fail(const Value& recorded) {
  const EncryptedSerializer serializer(make_cipher(recorded, same_nonce("")));
  expect_refused<SerdeError>("loading", [&] { serializer.loads_typed(stored(recorded)); });
}

// Sets the key variable while it lives.
class KeyVariable {
 public:
  explicit KeyVariable(const Value& value) {
    if (value.is_null()) {
      unsetenv(kKeyVariable);
    } else {
      setenv(kKeyVariable, std::string(value.as_string()).c_str(), 1);
    }
  }
  ~KeyVariable() { unsetenv(kKeyVariable); }
  KeyVariable(const KeyVariable&) = delete;
  KeyVariable& operator=(const KeyVariable&) = delete;
};

void check_key_variable(const Value& recorded) {
  const KeyVariable variable(recorded.at("value"));
  if (!recorded.at("ok").as_bool()) {
    expect_refused<CryptoError>("taking the key", [] { AesEaxCipher::from_environment(); });
    return;
  }
  const EncryptedSerializer serializer(AesEaxCipher::from_environment());
  expect_same_json("canonical", recorded.at("canonical"),
                   canonical(serializer.loads_typed(stored(recorded))));
  expect_equal("key_hex", recorded.at("key_hex").as_string(),
               to_hex(recorded.at("value").as_string()));
}

}  // namespace

void run_encrypted(const Value& vectors, Report& report) {
  constexpr Section kSections[] = {
      {"cases", check_case},
      {"must_fail", check_must_fail},
      {kKeyVariable, check_key_variable},
  };
  run_sections(vectors, kSections, report);
}

}  // namespace clew::interop
