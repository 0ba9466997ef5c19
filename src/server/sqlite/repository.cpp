#include <openssl/rand.h>

#include <clew/errors.hpp>

#include "checkpoint/sqlite/database.hpp"
#include "server/sqlite/schema.hpp"
#include "server/sqlite/tables.hpp"
#include "server/sqlite_repository.hpp"

namespace clew::server::sqlite {
namespace {

using clew::sqlite::Database;

SqliteOptions with(SqliteSynchronous synchronous) {
  SqliteOptions options;
  options.synchronous = synchronous;
  return options;
}

std::string new_secret() {
  unsigned char bytes[32];
  if (RAND_bytes(bytes, sizeof bytes) != 1) throw CryptoError("there are no random bytes");
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

Codec make_codec(Database& database, const std::shared_ptr<const Cipher>& cipher) {
  std::string secret;
  database.write([&](Connection& connection) {
    create_tables(connection);
    if (const auto stored = stored_secret(connection)) {
      secret = *stored;
      return;
    }
    secret = cipher ? cipher->encrypt(new_secret()) : "";
    store_secret(connection, secret);
  });
  if (secret.empty() != (cipher == nullptr)) {
    throw StorageError(cipher ? "the server's tables were made without encryption; start without "
                                "a key, or with another file"
                              : "the server's tables are encrypted; give the key they were made "
                                "with");
  }
  return Codec(cipher, cipher ? cipher->decrypt(secret) : "");
}

class SqliteRepository final : public Repository {
 public:
  SqliteRepository(const std::string& path, const SqliteRepositoryOptions& options)
      : full_(path, with(SqliteSynchronous::full)),
        quick_(path, with(SqliteSynchronous::normal)),
        codec_(make_codec(full_, options.cipher)) {}

  void read(const std::function<void(const Tables&)>& look) override {
    full_.read([&](Connection& connection) {
      const SqliteTables tables(connection, codec_);
      look(tables);
      return true;
    });
  }

  void write(const std::function<void(Tables&)>& change, Commit commit) override {
    Database& database = commit == Commit::full ? full_ : quick_;
    database.write([&](Connection& connection) {
      SqliteTables tables(connection, codec_);
      change(tables);
    });
  }

 private:
  Database full_;
  Database quick_;
  Codec codec_;
};

}  // namespace
}  // namespace clew::server::sqlite

namespace clew::server {

std::shared_ptr<Repository> open_sqlite_repository(const std::string& path,
                                                   SqliteRepositoryOptions options) {
  if (path.empty() || path == ":memory:") {
    throw StorageError("the server's tables need a file: several connections share it");
  }
  return std::make_shared<sqlite::SqliteRepository>(path, options);
}

bool is_sqlite_repository(const std::string& path) {
  return clew::sqlite::Connection(path, SqliteOptions().busy_timeout).has_table("agent_threads");
}

}  // namespace clew::server
