#include "samples.hpp"

#include <openssl/evp.h>

#include <clew/messages.hpp>

namespace clew::bench {
namespace {

void append_hex(std::string& out, const unsigned char* bytes, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < size; ++i) {
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
}

// Looking the algorithm up takes longer than the digest of a short text.
const EVP_MD* sha256() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  if (!algorithm) throw Error("OpenSSL has no SHA-256; the benchmarks fill their texts with it");
  return algorithm;
}

std::string message_name(std::size_t index) { return "m" + std::to_string(index); }

Value message_dict(std::size_t index) {
  const std::string name = message_name(index);
  return {{"type", index % 2 == 0 ? "human" : "ai"},
          {"content", hexstr(name, 500)},
          {"id", name},
          {"additional_kwargs", object()},
          {"response_metadata", object()},
          {"name", nullptr}};
}

Value message_object(std::size_t index) {
  const std::string name = message_name(index);
  if (index % 2 == 0) return HumanMessage{.content = hexstr(name, 500), .id = name};
  return AIMessage{.content = hexstr(name, 500), .id = name};
}

Value nested_item(int i, int j) {
  ListBuilder tags;
  for (int k = 0; k < 8; ++k) tags.push_back("tag" + std::to_string(k));
  ListBuilder vec;
  for (int k = 0; k < 16; ++k) vec.push_back((i * 7 + j * 3 + k) % 97 / 97.0);
  const std::string i_text = std::to_string(i);
  const std::string j_text = std::to_string(j);
  return object({{"id", i_text + "-" + j_text},
                 {"text", hexstr("nj" + i_text + ":" + j_text, 120)},
                 {"score", (i * 31 + j) / 7.0},
                 {"count", i * 1000 + j},
                 {"ok", (i + j) % 2 == 0},
                 {"none", nullptr},
                 {"tags", std::move(tags).build()},
                 {"vec", std::move(vec).build()}});
}

}  // namespace

std::string hexstr(std::string_view tag, std::size_t size) {
  std::string text;
  for (std::size_t k = 0; text.size() < size; ++k) {
    const std::string input = std::string(tag) + ":" + std::to_string(k);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int digest_size = 0;
    if (EVP_Digest(input.data(), input.size(), digest, &digest_size, sha256(), nullptr) != 1) {
      throw Error("OpenSSL failed to compute a SHA-256");
    }
    append_hex(text, digest, digest_size);
  }
  text.resize(size);
  return text;
}

Value message_dicts(std::size_t count) {
  ListBuilder messages;
  for (std::size_t i = 0; i < count; ++i) messages.push_back(message_dict(i));
  return std::move(messages).build();
}

Value message_objects(std::size_t count) {
  ListBuilder messages;
  for (std::size_t i = 0; i < count; ++i) messages.push_back(message_object(i));
  return std::move(messages).build();
}

Value nested_json() {
  ObjectBuilder sections;
  for (int i = 0; i < 95; ++i) {
    ObjectBuilder items;
    for (int j = 0; j < 20; ++j) items.set("item" + std::to_string(j), nested_item(i, j));
    sections.set("section" + std::to_string(i), std::move(items).build());
  }
  return std::move(sections).build();
}

}  // namespace clew::bench
