// Where the checkpoints of a workload go, and the thread they are saved to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <clew/checkpointer.hpp>
#include <clew/config.hpp>

#include "options.hpp"

namespace clew::bench {

// A folder for the files of one repetition, removed with it.
class Folder {
 public:
  explicit Folder(const Options& options);
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::int64_t bytes() const;  // of all files

 private:
  std::filesystem::path path_;
};

struct Storage {
  std::shared_ptr<Checkpointer> checkpointer = {};   // null: nothing is saved
  std::function<std::int64_t()> bytes_on_disk = {};  // empty: it is not on a disk
};

// A new and empty storage of options.backend. Throws UsageError if this build
// does not have that backend.
Storage open_storage(const Options& options);

// Runs `repetition(checkpointer)` options.repeat times, each with a storage of
// its own. Returns what the last one left on disk.
template <class Repetition>
std::optional<std::int64_t> repeat(const Options& options, const Repetition& repetition) {
  std::optional<std::int64_t> bytes;
  for (int i = 0; i < options.repeat; ++i) {
    const Storage storage = open_storage(options);
    repetition(storage.checkpointer);
    if (storage.bytes_on_disk) bytes = storage.bytes_on_disk();
  }
  return bytes;
}

// How often it has committed, and how often since it had committed `before` times; null if it
// does not say.
Value commits_of(const Checkpointer* checkpointer);
Value commits_since(const Value& before, const Checkpointer* checkpointer);

// The thread `name`, with the durability that the command line asks for.
Config thread_config(const Options& options, std::string name);
inline Config thread_config(const Options& options, int number) {
  return thread_config(options, "t" + std::to_string(number));
}

// What a row says about durability: null if nothing is saved.
Value durability_of(const Options& options);

}  // namespace clew::bench
