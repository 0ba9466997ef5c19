// Threads as a data warehouse takes them: a folder for each day, with the rows of the
// three tables whose checkpoints are of that day.
//
//   OUTPUT/dt=2026-11-16/checkpoints.jsonl
//   OUTPUT/dt=2026-11-16/checkpoint_blobs.jsonl
//   OUTPUT/dt=2026-11-16/checkpoint_writes.jsonl
//
// Values are plain JSON texts. docs/format/export.md describes the columns.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <clew/checkpointer.hpp>

namespace clew::cli {

class PartitionWriter {
 public:
  // The folder is made; throws Error if it has something in it.
  explicit PartitionWriter(std::filesystem::path folder);

  // All checkpoints of the thread, in any order. Throws Error if it cannot be written.
  void write(const std::string& thread_id, std::vector<CheckpointTuple> checkpoints);

  // Throws Error if something of it cannot be written.
  void finish();

 private:
  void add(const std::string& day, const std::string& table, const Value& row);

  const std::filesystem::path folder_;
  std::map<std::filesystem::path, std::ofstream> files_;
};

}  // namespace clew::cli
