#include "storage.hpp"

#include <stdlib.h>

#include <array>
#include <filesystem>
#include <string_view>

#include <clew/memory_saver.hpp>
#include <clew/sqlite_saver.hpp>

namespace clew::bench {
namespace {

struct Backend {
  std::string_view name;
  Storage (*open)(const Options& options);
};

Storage open_none(const Options&) { return {}; }

Storage open_memory(const Options&) { return {.checkpointer = std::make_shared<InMemorySaver>()}; }

Storage open_file(const Options& bench, SqliteOptions options) {
  const auto folder = std::make_shared<Folder>(bench);
  const auto saver = SqliteSaver::open(folder->file("threads.db"), std::move(options));
  return {.checkpointer = saver, .bytes_on_disk = [saver, folder] {
            saver->vacuum();
            return folder->bytes();
          }};
}

Storage open_sqlite(const Options& options) { return open_file(options, {}); }

Storage open_sqlite_normal(const Options& options) {
  return open_file(options, {.synchronous = SqliteSynchronous::normal});
}

Storage open_sqlite_langgraph(const Options& options) {
  return open_file(options, {.layout = SqliteLayout::langgraph});
}

constexpr std::array kBackends = {
    Backend{"none", open_none},
    Backend{"memory", open_memory},
    Backend{"sqlite", open_sqlite},
    Backend{"sqlite_normal", open_sqlite_normal},
    Backend{"sqlite_langgraph", open_sqlite_langgraph},
};

}  // namespace

Folder::Folder(const Options& options) {
  const std::string parent =
      options.tmp.empty() ? std::filesystem::temp_directory_path().string() : options.tmp;
  std::string name = parent + "/clew-bench-XXXXXX";
  if (!mkdtemp(name.data())) throw UsageError("cannot make a folder in '" + parent + "'");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::int64_t Folder::bytes() const {
  std::int64_t total = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    total += static_cast<std::int64_t>(entry.file_size());
  }
  return total;
}

Storage open_storage(const Options& options) {
  for (const Backend& backend : kBackends) {
    if (backend.name == options.backend) return backend.open(options);
  }
  throw UsageError("this build has no backend '" + options.backend + "' yet");
}

Value commits_of(const Checkpointer* checkpointer) {
  const auto* file = dynamic_cast<const SqliteSaver*>(checkpointer);
  return file ? Value(static_cast<std::int64_t>(file->commits())) : Value();
}

Value commits_since(const Value& before, const Checkpointer* checkpointer) {
  const Value now = commits_of(checkpointer);
  return now.is_null() ? now : Value(now.as_int() - before.as_int());
}

Config thread_config(const Options& options, std::string name) {
  constexpr int kRecursionLimit = 100'000;
  return {.thread_id = std::move(name),
          .recursion_limit = kRecursionLimit,
          .durability = Value(options.durability).get<Durability>()};
}

Value durability_of(const Options& options) {
  return options.backend == "none" ? Value() : Value(options.durability);
}

}  // namespace clew::bench
