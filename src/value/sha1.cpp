#include "value/sha1.hpp"

#include <algorithm>
#include <array>

#include <openssl/evp.h>

#include <clew/error.hpp>

namespace clew::internal {

Uuid::Bytes truncated_sha1(std::string_view bytes) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha1(), nullptr) != 1) {
    throw Error(
        "OpenSSL offers no SHA-1, which LangGraph's ids are made with; enable it in the "
        "OpenSSL configuration");
  }
  Uuid::Bytes result;
  std::copy_n(digest.begin(), result.size(), result.begin());
  return result;
}

}  // namespace clew::internal
