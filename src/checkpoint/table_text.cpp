#include "checkpoint/table_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <openssl/evp.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "value/hex.hpp"

namespace clew::internal {

namespace {

std::string md5(std::string_view text) {
  // Looked up once: that takes longer than the hash of a name.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "MD5", nullptr);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (!algorithm ||
      EVP_Digest(text.data(), text.size(), digest.data(), &size, algorithm, nullptr) != 1) {
    throw StorageError("MD5 is not available in this OpenSSL");
  }
  return to_hex({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace

// A checkpoint follows the writes that lead to it, so the namespace is mostly that of the
// call before.
std::string namespace_hash(std::string_view checkpoint_ns) {
  thread_local std::pair<std::string, std::string> last{"", "d41d8cd98f00b204e9800998ecf8427e"};
  auto& [name, hash] = last;
  if (name != checkpoint_ns) {
    hash = md5(checkpoint_ns);
    name = checkpoint_ns;
  }
  return hash;
}

std::string table_time(std::string ts) {
  ts.resize(std::min(ts.find('+'), ts.size()));
  std::replace(ts.begin(), ts.end(), 'T', ' ');
  return ts;
}

Value version_text(const Value& version) {
  return version.is_string() ? version : Value(to_json(version));
}

}  // namespace clew::internal
