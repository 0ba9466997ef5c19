// What an Agent Server keeps of threads, in a database that it is not running on.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/database.hpp"
#include "server/repository.hpp"
#include "server/storage.hpp"

namespace clew::cli {

class ServerRecords {
 public:
  // Null if the database is no server's. Throws Error if a server is running on it.
  // As long as this lives, none can start.
  static std::unique_ptr<ServerRecords> open(const Database& database);

  bool has(const std::string& thread_id);
  std::size_t runs(const std::string& thread_id);
  // The record of the thread, its runs and events.
  void erase(const std::string& thread_id);

 private:
  explicit ServerRecords(const Database& database);

  server::FolderLock lock_;
  std::shared_ptr<server::Repository> repository_;
};

}  // namespace clew::cli
