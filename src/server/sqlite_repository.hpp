// The repository in a SQLite file, which may be the one that SqliteSaver and
// SqliteStore keep their tables in.
#pragma once

#include <memory>
#include <string>

#include <clew/cipher.hpp>

#include "server/repository.hpp"

namespace clew::server {

struct SqliteRepositoryOptions {
  // Encrypts all that callers gave: metadata, inputs, values, events. Ids, names
  // of graphs, times and states stay readable. Null: nothing is encrypted.
  std::shared_ptr<const Cipher> cipher = {};
};

// Opens or makes the tables; throws StorageError.
std::shared_ptr<Repository> open_sqlite_repository(const std::string& path,
                                                   SqliteRepositoryOptions options = {});

// Whether the file, which must be there, has such tables. Makes nothing.
bool is_sqlite_repository(const std::string& path);

}  // namespace clew::server
