// The threads that LangGraph wrote, and what it said of them.
#pragma once

#include <filesystem>

#include <clew/encrypted.hpp>
#include <clew/sqlite_saver.hpp>

#include "temporary_folder.hpp"
#include "vectors.hpp"

namespace clew::cli {

struct PythonDatabase {
  PythonDatabase() {
    namespace fs = std::filesystem;
    const fs::path databases = fs::path(CLEW_TEST_DATA_DIR) / "databases";
    expected = interop::read_vectors(databases / "sqlite_checkpoints.expected.json");
    const fs::path copy = folder.path / "python.db";
    fs::copy_file(databases / "sqlite_checkpoints.db", copy);
    EncryptedOptions encrypted;
    encrypted.allow_plaintext = true;  // most threads are
    SqliteOptions options;
    options.serializer = std::make_shared<EncryptedSerializer>(
        std::make_shared<AesEaxCipher>(expected.get<std::string>("aes_key")), encrypted);
    saver = SqliteSaver::open(copy.string(), std::move(options));
  }

  TemporaryFolder folder;
  Value expected;
  std::shared_ptr<SqliteSaver> saver;
};

}  // namespace clew::cli
