#include <clew/encrypted.hpp>

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <clew/extension.hpp>

namespace clew {
namespace {

constexpr std::string_view kKey = "0123456789abcdef";
constexpr std::string_view kOtherKey = "fedcba9876543210";

EncryptedSerializer make_serializer(std::string_view key = kKey, bool allow_plaintext = false) {
  EncryptedOptions options;
  options.allow_plaintext = allow_plaintext;
  return EncryptedSerializer(std::make_shared<AesEaxCipher>(key), options);
}

std::string refusal(const EncryptedSerializer& serializer, const TypedBytes& stored) {
  try {
    serializer.loads_typed(stored);
  } catch (const CryptoError& error) {
    return error.what();
  }
  return "no error";
}

// Turns every byte around: easy to see through, which a test wants.
class Inverter final : public Cipher {
 public:
  std::string_view name() const noexcept override { return "inv"; }
  std::string encrypt(std::string_view plaintext) const override { return inverted(plaintext); }
  std::string decrypt(std::string_view data) const override { return inverted(data); }

 private:
  static std::string inverted(std::string_view bytes) {
    std::string result(bytes);
    for (char& byte : result) byte = static_cast<char>(~byte);
    return result;
  }
};

TEST(EncryptedSerializer, LoadsWhatItStored) {
  const EncryptedSerializer serializer = make_serializer();
  for (const Value& value :
       {Value(), Value::bytes("raw"), Value("text"), object({{"a", list({1, 2.5, nullptr})}}),
        make_extension(ExtensionCode::bytearray, Value::bytes("abc"))}) {
    EXPECT_EQ(serializer.loads_typed(serializer.dumps_typed(value)), value);
  }
}

TEST(EncryptedSerializer, TheTagNamesTheInnerOneAndTheCipher) {
  const EncryptedSerializer aes = make_serializer();
  EXPECT_EQ(aes.dumps_typed(nullptr).tag, "null+aes");
  EXPECT_EQ(aes.dumps_typed(Value::bytes("x")).tag, "bytes+aes");
  EXPECT_EQ(aes.dumps_typed("x").tag, "msgpack+aes");
  // Nonce and MAC are there also when there is nothing to hide.
  EXPECT_EQ(aes.dumps_typed(nullptr).bytes.size(), 32U);

  const EncryptedSerializer inverter(std::make_shared<Inverter>());
  EXPECT_EQ(inverter.dumps_typed(true), (TypedBytes{"msgpack+inv", "\x3C"}));
  EXPECT_EQ(inverter.loads_typed("msgpack+inv", "\x3C"), Value(true));
}

TEST(EncryptedSerializer, TheContentIsNotToBeSeen) {
  const TypedBytes stored = make_serializer().dumps_typed("a very secret word");
  EXPECT_EQ(stored.bytes.find("secret"), std::string::npos);
  EXPECT_NE(stored, make_serializer().dumps_typed("a very secret word"));
}

TEST(EncryptedSerializer, RefusesPlaintextAndSaysHowToAllowIt) {
  const TypedBytes plain = JsonPlusSerializer().dumps_typed(object({{"plain", 1}}));
  EXPECT_EQ(refusal(make_serializer(), plain),
            "a row of tag 'msgpack' is not encrypted; to read rows from before encryption was "
            "turned on, set EncryptedOptions::allow_plaintext");
  EXPECT_NE(refusal(make_serializer(), {"null", ""}), "no error");
  EXPECT_NE(refusal(make_serializer(), {"", ""}), "no error");
}

TEST(EncryptedSerializer, ReadsPlaintextWhereItIsAllowedButNeverWritesIt) {
  const EncryptedSerializer serializer = make_serializer(kKey, true);
  const TypedBytes plain = JsonPlusSerializer().dumps_typed(object({{"plain", 1}}));
  EXPECT_EQ(serializer.loads_typed(plain), object({{"plain", 1}}));
  EXPECT_EQ(serializer.dumps_typed(1).tag, "msgpack+aes");
  // What claims to be encrypted still has to be.
  EXPECT_NE(refusal(serializer, {"msgpack+aes", plain.bytes}), "no error");
}

TEST(EncryptedSerializer, AnotherKeyDoesNotOpenIt) {
  const TypedBytes stored = make_serializer().dumps_typed("text");
  EXPECT_NE(refusal(make_serializer(kOtherKey), stored).find("MAC check failed"),
            std::string::npos);
  EXPECT_NE(refusal(make_serializer(kOtherKey, true), stored), "no error");
}

TEST(EncryptedSerializer, AnyChangeOfTheBytesIsNoticed) {
  const EncryptedSerializer serializer = make_serializer();
  const TypedBytes stored = serializer.dumps_typed(list({1, 2, 3}));
  for (std::size_t bit = 0; bit < stored.bytes.size() * 8; ++bit) {
    TypedBytes damaged = stored;
    damaged.bytes[bit / 8] = static_cast<char>(damaged.bytes[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(refusal(serializer, damaged), "no error") << bit;
  }
  for (std::size_t size = 0; size < stored.bytes.size(); ++size) {
    EXPECT_NE(refusal(serializer, {stored.tag, stored.bytes.substr(0, size)}), "no error") << size;
  }
  EXPECT_NE(refusal(serializer, {stored.tag, stored.bytes + "x"}), "no error");
}

TEST(EncryptedSerializer, AnotherCipherIsNamed) {
  const TypedBytes stored = make_serializer().dumps_typed("text");
  EXPECT_EQ(refusal(make_serializer(), {"msgpack+rot13", stored.bytes}),
            "unsupported cipher 'rot13'; this serializer has 'aes'");
  for (const char* tag : {"msgpack+", "msgpack+AES", "msgpack+aes+aes", "+rot13"}) {
    EXPECT_NE(refusal(make_serializer(), {tag, stored.bytes}), "no error") << tag;
  }
}

TEST(EncryptedSerializer, TheInnerTagIsCheckedAfterDecryption) {
  const EncryptedSerializer serializer = make_serializer();
  const TypedBytes stored = serializer.dumps_typed("text");
  EXPECT_THROW(serializer.loads_typed("yaml+aes", stored.bytes), SerdeError);
  EXPECT_THROW(serializer.loads_typed("json+aes", stored.bytes), SerdeError);
}

struct Point {
  double x = 0;
};
CLEW_JSON(Point, x)

TEST(EncryptedSerializer, UsesTheGivenInnerSerializer) {
  auto types = std::make_shared<TypeRegistry>();
  types->add<Point>("geometry.Point");
  JsonPlusOptions inner;
  inner.types = types;
  EncryptedOptions options;
  options.inner = std::make_shared<JsonPlusSerializer>(inner);
  const EncryptedSerializer serializer(std::make_shared<AesEaxCipher>(kKey), options);
  const Value loaded = serializer.loads_typed(serializer.dumps_typed(wrap(Point{2})));
  ASSERT_NE(unwrap<Point>(loaded), nullptr);
  EXPECT_EQ(unwrap<Point>(loaded)->x, 2);
}

TEST(EncryptedSerializer, NeedsACipher) { EXPECT_THROW(EncryptedSerializer(nullptr), Error); }

TEST(EncryptedSerializer, ModesDoNotReadEachOther) {
  const EncryptedSerializer gcm(std::make_shared<AesGcmCipher>(kKey));
  EXPECT_EQ(gcm.loads_typed(gcm.dumps_typed("text")), Value("text"));
  EXPECT_NE(refusal(make_serializer(), gcm.dumps_typed("text")), "no error");
  EXPECT_NE(refusal(gcm, make_serializer().dumps_typed("text")), "no error");
}

}  // namespace
}  // namespace clew
