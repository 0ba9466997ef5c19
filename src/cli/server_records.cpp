#include "cli/server_records.hpp"

#include <filesystem>
#include <limits>

#include <clew/errors.hpp>

#include "server/sqlite_repository.hpp"

namespace clew::cli {
namespace {

std::filesystem::path folder_of(const Database& database) {
  const std::filesystem::path folder = std::filesystem::path(database.path()).parent_path();
  return folder.empty() ? "." : folder;
}

}  // namespace

std::unique_ptr<ServerRecords> ServerRecords::open(const Database& database) {
  if (!database.has_server()) return nullptr;
  return std::unique_ptr<ServerRecords>(new ServerRecords(database));
}

ServerRecords::ServerRecords(const Database& database) try
    : lock_(folder_of(database)),
      repository_(server::open_sqlite_repository(database.path(), {.cipher = database.cipher()})) {
} catch (const StorageError& error) {
  throw Error(
      "'" + database.path() +
      "' is an Agent Server's: delete threads through it (DELETE /threads/THREAD), or stop it"
      " first; " +
      error.what());
}

bool ServerRecords::has(const std::string& thread_id) {
  return repository_->look([&](const server::Tables& tables) {
    return tables.threads().get(thread_id, {}).has_value();
  });
}

std::size_t ServerRecords::runs(const std::string& thread_id) {
  server::RunQuery query{.thread_id = thread_id};
  query.page.limit = std::numeric_limits<std::int64_t>::max();
  return repository_->look(
      [&](const server::Tables& tables) { return tables.runs().list(query).size(); });
}

void ServerRecords::erase(const std::string& thread_id) {
  repository_->write([&](server::Tables& tables) {
    tables.threads().erase(thread_id);
    tables.events().erase_thread(thread_id);
  });
}

}  // namespace clew::cli
