// The values of items as the file has them: JSON, encrypted if there is a cipher.
// docs/format/sqlite.md draws both.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <clew/cipher.hpp>
#include <clew/value.hpp>

#include "checkpoint/sqlite/connection.hpp"

namespace clew::sqlite {

class ItemCodec {
 public:
  explicit ItemCodec(std::shared_ptr<const Cipher> cipher) : cipher_(std::move(cipher)) {}

  std::string encode(std::string json) const;

  // The value of the item that `prefix` and `key` name. What is not encrypted is
  // read with a cipher too. Throws StorageError for what this key does not open.
  Value decode(std::string_view stored, std::string_view prefix, std::string_view key) const;

  // Throws StorageError unless the key is the one that the file was first opened
  // with, or none if that was none. Remembers the first one.
  void check_key(Connection& connection) const;

 private:
  std::string decrypt(std::string_view stored, const std::string& what) const;

  std::shared_ptr<const Cipher> cipher_;
};

}  // namespace clew::sqlite
