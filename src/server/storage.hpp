// Everything that a server keeps, in one SQLite file of its data folder. If
// LANGGRAPH_AES_KEY is set it is encrypted.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <clew/cipher.hpp>
#include <clew/store.hpp>

#include "server/checkpoints_after_events.hpp"
#include "server/config.hpp"
#include "server/repository.hpp"

namespace clew::server {

// Keeps a second server away from a folder: both would take up the same runs.
class FolderLock {
 public:
  // Throws StorageError if another one holds it, or if the folder is not writable.
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int file_ = -1;
};

// That of LANGGRAPH_AES_KEY; null if it is not set. Throws CryptoError for a key that is none.
std::shared_ptr<const Cipher> cipher_of_environment();

struct Storage {
  std::unique_ptr<FolderLock> lock;
  std::string path;  // of the file
  bool is_encrypted = false;
  std::shared_ptr<CheckpointsAfterEvents> checkpointer;
  std::shared_ptr<Store> store;
  std::shared_ptr<Repository> repository;
  std::unique_ptr<StoreSweeper> sweeper;
};

// Makes the folder if it is not there. Throws StorageError, CryptoError, and
// ValueError for an embedder that there is not.
Storage open_storage(const std::filesystem::path& folder, const ServerConfig& config);

}  // namespace clew::server
