// Stored values that only a key opens.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

int main() {
  // [snippet encrypted]
  // AesEaxCipher::from_environment() takes the key from LANGGRAPH_AES_KEY instead.
  EncryptedSerializer serializer(std::make_shared<AesEaxCipher>("a key of 16 byte"));

  Value state{{"foo", "secret"}};
  TypedBytes stored = serializer.dumps_typed(state);
  std::cout << stored.tag << '\n';                                          // msgpack+aes
  std::cout << (stored.bytes.find("secret") == std::string::npos) << '\n';  // 1
  std::cout << (serializer.loads_typed(stored) == state) << '\n';           // 1

  TypedBytes plain = JsonPlusSerializer().dumps_typed(state);
  try {
    serializer.loads_typed(plain);
  } catch (const CryptoError& error) {
    std::cout << error.what() << '\n';
  }
  // [/snippet encrypted]
}
