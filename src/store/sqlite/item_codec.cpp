#include "store/sqlite/item_codec.hpp"

#include <optional>

#include <clew/errors.hpp>
#include <clew/json.hpp>

namespace clew::sqlite {
namespace {

// JSON objects begin with a brace. Persisted: never change.
constexpr std::string_view kMark = "json+";

// One row: a known text, encrypted. It tells whether a key is the right one
// before an item has to.
constexpr const char* kKeyTable =
    "CREATE TABLE IF NOT EXISTS clew_store_key (id INTEGER PRIMARY KEY CHECK (id = 1), proof BLOB "
    "NOT NULL)";
constexpr std::string_view kProof = "{}";

std::optional<std::string> stored_proof(Connection& connection) {
  if (!connection.has_table("clew_store_key")) return {};
  Rows rows = connection.query("SELECT proof FROM clew_store_key");
  if (!rows.next()) return {};
  return std::string(rows.text(0));
}

}  // namespace

std::string ItemCodec::encode(std::string json) const {
  if (!cipher_) return json;
  return std::string(kMark) + std::string(cipher_->name()) + ":" + cipher_->encrypt(json);
}

Value ItemCodec::decode(std::string_view stored, std::string_view prefix,
                        std::string_view key) const {
  if (!stored.starts_with(kMark)) return parse_json(stored);
  const std::string what = "the item '" + std::string(key) + "' in '" + std::string(prefix) + "'";
  return parse_json(decrypt(stored, what));
}

std::string ItemCodec::decrypt(std::string_view stored, const std::string& what) const {
  if (!cipher_) {
    throw StorageError(what +
                       " is encrypted; open the store with SqliteStoreOptions::cipher and the key "
                       "that it was written with");
  }
  const std::string mark = std::string(kMark) + std::string(cipher_->name()) + ":";
  if (!stored.starts_with(mark)) {
    throw StorageError(what + " is encrypted with another cipher than '" +
                       std::string(cipher_->name()) + "'; open the store with that one");
  }
  try {
    return cipher_->decrypt(stored.substr(mark.size()));
  } catch (const CryptoError& error) {
    throw StorageError(what + " cannot be decrypted: " + error.what() +
                       "; open the store with the key and the kind of cipher that it was written "
                       "with");
  }
}

void ItemCodec::check_key(Connection& connection) const {
  const std::optional<std::string> proof = stored_proof(connection);
  if (proof) {
    decrypt(*proof, "the memory store in this file");
  } else if (cipher_) {
    connection.execute(kKeyTable);
    connection.run("INSERT INTO clew_store_key (id, proof) VALUES (1, ?)",
                   Blob{encode(std::string(kProof))});
  }
}

}  // namespace clew::sqlite
