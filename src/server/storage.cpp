#include "server/storage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include <sys/file.h>

#include <clew/embeddings.hpp>
#include <clew/encrypted.hpp>
#include <clew/errors.hpp>
#include <clew/sqlite_saver.hpp>
#include <clew/sqlite_store.hpp>

#include "server/sqlite_repository.hpp"

namespace clew::server {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) {
    throw StorageError("cannot make the folder '" + folder.string() + "': " + error.message());
  }
}

std::shared_ptr<Checkpointer> open_checkpointer(const std::string& path,
                                                const std::shared_ptr<const Cipher>& cipher) {
  SqliteOptions options;
  if (cipher) options.serializer = std::make_shared<EncryptedSerializer>(cipher);
  return SqliteSaver::open(path, options);
}

std::optional<IndexOptions> index_of(const ServerConfig& config) {
  if (!config.store_index) return std::nullopt;
  IndexOptions index;
  index.embed = init_embeddings(config.store_index->embed);
  index.dims = config.store_index->dims;
  index.fields = config.store_index->fields;
  index.hnsw = HnswOptions();
  return index;
}

std::shared_ptr<Store> open_store(const std::string& path, const ServerConfig& config,
                                  const std::shared_ptr<const Cipher>& cipher) {
  SqliteStoreOptions options;
  options.cipher = cipher;
  options.index = index_of(config);
  options.order = StoreOrder::first_stored;
  if (config.store_ttl) {
    options.ttl = StoreTtl{config.store_ttl->default_ttl, config.store_ttl->refresh_on_read};
  }
  return SqliteStore::open(path, options);
}

}  // namespace

std::shared_ptr<const Cipher> cipher_of_environment() {
  const char* key = std::getenv("LANGGRAPH_AES_KEY");
  if (key == nullptr || *key == '\0') return nullptr;
  return AesEaxCipher::from_environment();
}

FolderLock::FolderLock(const fs::path& folder) {
  const std::string path = (folder / "clew.lock").string();
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) {
    throw StorageError("cannot write to the folder '" + folder.string() + "'; name another one");
  }
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    close(file_);
    throw StorageError("another server keeps its data in '" + folder.string() +
                       "'; stop it, or name another folder");
  }
}

FolderLock::~FolderLock() { close(file_); }

Storage open_storage(const fs::path& folder, const ServerConfig& config) {
  make_folder(folder);
  const std::shared_ptr<const Cipher> cipher = cipher_of_environment();
  Storage storage;
  storage.lock = std::make_unique<FolderLock>(folder);
  storage.path = (folder / "clew.db").string();
  storage.is_encrypted = cipher != nullptr;
  storage.checkpointer =
      std::make_shared<CheckpointsAfterEvents>(open_checkpointer(storage.path, cipher));
  storage.store = open_store(storage.path, config, cipher);
  storage.repository = open_sqlite_repository(storage.path, {.cipher = cipher});
  const auto interval =
      config.store_ttl ? config.store_ttl->sweep_interval : StoreTtlConfig().sweep_interval;
  storage.sweeper = std::make_unique<StoreSweeper>(storage.store, interval);
  return storage;
}

}  // namespace clew::server
