// All backends of CheckpointerSuite, with their ways.
#include <clew/encrypted.hpp>
#include <clew/memory_saver.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpointer_suite.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

// In a new file. These tests are about what is stored; that it survives power
// loss is for others, so no time is spent on it.
std::shared_ptr<Checkpointer> open_file(SqliteLayout layout,
                                        std::shared_ptr<const Serializer> serializer = nullptr) {
  struct OpenFile {
    TemporaryFolder folder;
    std::shared_ptr<SqliteSaver> saver;  // closed before the folder goes
  };
  auto file = std::make_shared<OpenFile>();
  file->saver = SqliteSaver::open((file->folder.path / "threads.db").string(),
                                  {.serializer = std::move(serializer),
                                   .layout = layout,
                                   .synchronous = SqliteSynchronous::off});
  return {file, file->saver.get()};
}

std::shared_ptr<const Serializer> encrypted() {
  return std::make_shared<EncryptedSerializer>(
      std::make_shared<AesEaxCipher>(std::string(16, 'k')));
}

INSTANTIATE_TEST_SUITE_P(
    Backends, CheckpointerSuite,
    testing::Values(SaverBackend{.name = "memory",
                                 .recorded_as = "memory",
                                 .make = [] { return std::make_shared<InMemorySaver>(); }},
                    SaverBackend{.name = "sqlite_native",
                                 .recorded_as = "memory",
                                 .make = [] { return open_file(SqliteLayout::native); }},
                    SaverBackend{
                        .name = "sqlite_encrypted",
                        .recorded_as = "memory",
                        .make = [] { return open_file(SqliteLayout::native, encrypted()); }},
                    SaverBackend{.name = "sqlite_langgraph",
                                 .recorded_as = "sqlite",
                                 .make = [] { return open_file(SqliteLayout::langgraph); },
                                 .shares_values = false,
                                 .settles_writes_one_by_one = false,
                                 .lists_by_namespace = false}),
    backend_name);

}  // namespace
}  // namespace clew
