#include "checkpoint/table_text.hpp"

#include <algorithm>
#include <array>

#include <openssl/evp.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "value/hex.hpp"

namespace clew::internal {

std::string namespace_hash(std::string_view checkpoint_ns) {
  constexpr std::string_view kRoot = "d41d8cd98f00b204e9800998ecf8427e";
  if (checkpoint_ns.empty()) return std::string(kRoot);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (EVP_Digest(checkpoint_ns.data(), checkpoint_ns.size(), digest.data(), &size, EVP_md5(),
                 nullptr) != 1) {
    throw StorageError("MD5 is not available in this OpenSSL");
  }
  return to_hex({reinterpret_cast<const char*>(digest.data()), size});
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
