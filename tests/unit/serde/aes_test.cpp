#include <algorithm>
#include <concepts>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <clew/cipher.hpp>
#include <clew/error.hpp>

namespace clew {
namespace {

constexpr std::string_view kKey32 = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kKey24 = kKey32.substr(0, 24);
constexpr std::string_view kKey16 = kKey32.substr(0, 16);

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (char c : bytes) {
    hex += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    hex += "0123456789abcdef"[static_cast<unsigned char>(c) & 0xF];
  }
  return hex;
}

NonceSource fixed_nonce(std::string nonce) {
  return [nonce = std::move(nonce)](std::span<std::uint8_t, 16> out) {
    std::copy_n(nonce.begin(), out.size(), out.begin());
  };
}

// What the cipher says about `data`, or nothing if it accepts it.
std::string refusal(const Cipher& cipher, std::string_view data) {
  try {
    cipher.decrypt(data);
    return "";
  } catch (const CryptoError& error) {
    return error.what();
  }
}

const std::string kMacFailed = "MAC check failed: the key is wrong or the data is damaged";

struct Vector {
  std::string_view key;
  const char* sealed;  // nonce, MAC, ciphertext
  const char* plain;
};

// Recorded from LangGraph's EncryptedSerializer with pycryptodome.
constexpr Vector kEaxVectors[] = {
    {kKey16, "2c37424d58636e79848f9aa5b0bbc6d1c1ba9711547c2645b07676ebb5b448f5", ""},
    {kKey16, "25303b46515c67727d88939ea9b4bfca9ad5735a58fcbc504d1fe09150d5b3e061c12360a874",
     "a568656c6c6f"},
    {kKey24, "343f4a55606b76818c97a2adb8c3ced98a90c0793e54a281c4ee7b279da48d22", ""},
    {kKey24,
     "343f4a55606b76818c97a2adb8c3ced973b6288fd1801690a3e09f2ecb1871b0"
     "c2bf31bf5118aa63c19bc2e4dd7587",
     "81a1619301cb4004000000000000c0"},
    {kKey32, "3c47525d68737e89949faab5c0cbd6e1c558ed44f52283286a1a653ca9929cf9", ""},
    {kKey32,
     "3c47525d68737e89949faab5c0cbd6e138bb170ba3475f69d70046c960ee8a5a"
     "84e40fecb23cbedef9a4d5bffc5877",
     "81a1619301cb4004000000000000c0"},
    // The nonce is chosen so that the counter starts at ff..ff and wraps.
    {kKey16,
     "1d1eeee4e0cfd94fc90e32dff63bdcfb4e32a420d4562e96dc948f4eb0b7ca9f"
     "578d0d0842b1be48078a249f200f1c9b67fa7cb43f21d8812f3dbbacb27a50f563dc235b7115c5c8",
     "666f727479206279746573206f6620706c61696e746578743a20746872656520626c6f636b732121"},
};

constexpr Vector kGcmVectors[] = {
    {kKey32, "3c47525d68737e89949faab5c0cbd6e1e312ef4cace9999b7ee5e3a201f9b6af", ""},
    {kKey32, "35404b56616c77828d98a3aeb9c4cfda37f8aace120095ef14da7be6f5a302970b3f612e9879",
     "a568656c6c6f"},
    {kKey32,
     "3c47525d68737e89949faab5c0cbd6e1ee9aeec35d12e5abc43d867d437e1ed2"
     "fdc3a550d935e706b9b116adacabb4",
     "81a1619301cb4004000000000000c0"},
};

template <class T>
class AesCipherTest : public testing::Test {
 public:
  static std::span<const Vector> vectors() {
    if constexpr (std::same_as<T, AesEaxCipher>) return kEaxVectors;
    return kGcmVectors;
  }
};
using AesCiphers = testing::Types<AesEaxCipher, AesGcmCipher>;
TYPED_TEST_SUITE(AesCipherTest, AesCiphers);

TYPED_TEST(AesCipherTest, EqualsPycryptodomeBothWays) {
  for (const Vector& vector : this->vectors()) {
    const std::string sealed = from_hex(vector.sealed);
    const TypeParam cipher(vector.key, fixed_nonce(sealed.substr(0, 16)));
    EXPECT_EQ(to_hex(cipher.encrypt(from_hex(vector.plain))), vector.sealed);
    EXPECT_EQ(to_hex(cipher.decrypt(sealed)), vector.plain);
  }
}

TYPED_TEST(AesCipherTest, NameIsWhatLangGraphTagsWith) {
  EXPECT_EQ(TypeParam(kKey16).name(), "aes");
}

TYPED_TEST(AesCipherTest, ReadsBackEverySize) {
  for (std::string_view key : {kKey16, kKey24, kKey32}) {
    const TypeParam cipher(key);
    for (std::size_t size : {0u, 1u, 15u, 16u, 17u, 31u, 32u, 33u, 1000u, 65536u, 1000003u}) {
      std::string plain(size, '\0');
      for (std::size_t i = 0; i < size; ++i) plain[i] = static_cast<char>(i * 131 + 7);
      const std::string sealed = cipher.encrypt(plain);
      EXPECT_EQ(sealed.size(), size + 32);
      EXPECT_TRUE(cipher.decrypt(sealed) == plain) << size;
    }
  }
}

TYPED_TEST(AesCipherTest, NonceIsFreshEachTime) {
  const TypeParam cipher(kKey16);
  EXPECT_NE(cipher.encrypt("same").substr(0, 16), cipher.encrypt("same").substr(0, 16));
}

TYPED_TEST(AesCipherTest, RefusesAFlipOfAnyBit) {
  const TypeParam cipher(kKey32);
  std::string sealed = cipher.encrypt("twenty bytes of text");
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    const char mask = static_cast<char>(1 << (bit % 8));
    sealed[bit / 8] = static_cast<char>(sealed[bit / 8] ^ mask);
    ASSERT_EQ(refusal(cipher, sealed), kMacFailed) << bit;
    sealed[bit / 8] = static_cast<char>(sealed[bit / 8] ^ mask);
  }
  EXPECT_EQ(refusal(cipher, sealed), "");
}

TYPED_TEST(AesCipherTest, RefusesEveryTruncationAndExtension) {
  const TypeParam cipher(kKey16);
  const std::string sealed = cipher.encrypt("twenty bytes of text");
  for (std::size_t size = 0; size < 32; ++size) {
    EXPECT_EQ(refusal(cipher, sealed.substr(0, size)),
              "MAC check failed: " + std::to_string(size) +
                  " bytes cannot hold a nonce and a MAC (32 bytes); the data is truncated or was "
                  "never encrypted");
  }
  for (std::size_t size = 32; size < sealed.size(); ++size) {
    EXPECT_EQ(refusal(cipher, sealed.substr(0, size)), kMacFailed) << size;
  }
  EXPECT_EQ(refusal(cipher, sealed + '\0'), kMacFailed);
}

TYPED_TEST(AesCipherTest, RefusesAnotherKeyAsASerdeError) {
  const std::string sealed = TypeParam(kKey16).encrypt("text");
  EXPECT_EQ(refusal(TypeParam(kKey32), sealed), kMacFailed);
  EXPECT_THROW(TypeParam(std::string(16, '\0')).decrypt(sealed), SerdeError);
}

TYPED_TEST(AesCipherTest, WorksAgainAfterARefusal) {
  const TypeParam cipher(kKey24);
  const std::string sealed = cipher.encrypt("text");
  EXPECT_EQ(refusal(cipher, std::string(40, 'x')), kMacFailed);
  EXPECT_EQ(cipher.decrypt(sealed), "text");
}

TYPED_TEST(AesCipherTest, KeysOfOtherLengthsAreRefused) {
  for (std::size_t size : {0u, 1u, 15u, 17u, 23u, 25u, 31u, 33u, 64u}) {
    EXPECT_THROW(TypeParam(std::string(size, 'k')), CryptoError) << size;
  }
  try {
    TypeParam("short");
    FAIL();
  } catch (const CryptoError& error) {
    EXPECT_STREQ(error.what(),
                 "an AES key must be 16, 24 or 32 bytes long, but this one has 5; pass the raw "
                 "bytes, not hex or base64");
  }
}

TYPED_TEST(AesCipherTest, KeyMayBeForgottenByTheCaller) {
  std::string key(kKey16);
  const TypeParam cipher(key);
  key.assign(16, 'x');
  EXPECT_EQ(TypeParam(kKey16).decrypt(cipher.encrypt("text")), "text");
}

TYPED_TEST(AesCipherTest, ServesManyThreadsAtOnce) {
  const TypeParam cipher(kKey32);
  std::vector<int> wrong(4, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&cipher, &count = wrong[t], t] {
        for (std::size_t i = 0; i < 300; ++i) {
          const std::string plain(i, static_cast<char>('a' + t));
          if (cipher.decrypt(cipher.encrypt(plain)) != plain) ++count;
        }
      });
    }
  }
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(AesCipher, ModesDoNotReadEachOther) {
  EXPECT_EQ(refusal(AesGcmCipher(kKey16), AesEaxCipher(kKey16).encrypt("text")), kMacFailed);
  EXPECT_EQ(refusal(AesEaxCipher(kKey16), AesGcmCipher(kKey16).encrypt("text")), kMacFailed);
}

// Sets LANGGRAPH_AES_KEY and puts the former value back.
class KeyVariable {
 public:
  KeyVariable() {
    if (const char* value = std::getenv(kName)) former_ = value;
  }
  ~KeyVariable() { set(former_); }

  void set(const std::optional<std::string>& value) {
    if (value) {
      setenv(kName, value->c_str(), 1);
    } else {
      unsetenv(kName);
    }
  }

 private:
  static constexpr const char* kName = "LANGGRAPH_AES_KEY";
  std::optional<std::string> former_;
};

TYPED_TEST(AesCipherTest, KeyFromTheEnvironmentIsItsBytes) {
  KeyVariable variable;
  const std::string accented = "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9";
  for (const std::string& key :
       {std::string(kKey16), std::string(kKey24), std::string(kKey32), accented}) {
    variable.set(key);
    EXPECT_EQ(TypeParam(key).decrypt(TypeParam::from_environment()->encrypt("v")), "v");
  }
}

TEST(AesEaxCipher, ReadsWhatPythonWroteWithTheVariable) {
  KeyVariable variable;
  variable.set(std::string(kKey16));
  EXPECT_EQ(AesEaxCipher::from_environment()->decrypt(
                from_hex("9667c90fad336d166c9939db084e999dda367b86c63777446c9d4a533ae7e3a92d56")),
            "\xA1v");
}

std::string environment_refusal() {
  try {
    AesEaxCipher::from_environment();
    return "";
  } catch (const CryptoError& error) {
    return error.what();
  }
}

TEST(AesEaxCipher, EnvironmentErrorsSayWhatToDo) {
  KeyVariable variable;
  variable.set(std::nullopt);
  EXPECT_EQ(environment_refusal(),
            "LANGGRAPH_AES_KEY environment variable is not set; set it to a key of 16, 24 or 32 "
            "bytes, or pass the key to the cipher");
  for (const char* value : {"", "short", "0123456789abcde"}) {
    variable.set(value);
    EXPECT_EQ(environment_refusal(),
              "LANGGRAPH_AES_KEY must be 16, 24, or 32 bytes long, but has " +
                  std::to_string(std::string_view(value).size()) +
                  "; its bytes are the key itself, neither hex nor base64");
  }
}

}  // namespace
}  // namespace clew
