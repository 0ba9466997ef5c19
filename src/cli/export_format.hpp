// Threads as lines of JSON, which docs/format/export.md describes:
//
//   {"format": "clew-threads", "version": 1}
//   {"thread": "chat", "checkpoints": 9}
//   {"checkpoint": {...}}                      nine of these, oldest first
//   {"thread": ...
#pragma once

#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <clew/checkpointer.hpp>

namespace clew::cli {

// Writes threads, one after the other.
class ExportWriter {
 public:
  explicit ExportWriter(std::ostream& out);

  // All checkpoints of the thread, in any order.
  void write(const std::string& thread_id, std::vector<CheckpointTuple> checkpoints);

 private:
  std::ostream& out_;
};

struct ExportedThread {
  std::string thread_id;
  std::vector<CheckpointTuple> checkpoints;
};

// Reads them. What is wrong is an Error that says in which line.
class ExportReader {
 public:
  // `name` is that of the file, for errors.
  ExportReader(std::istream& in, std::string name);

  // The next thread, whole; nothing at the end.
  std::optional<ExportedThread> next();

  // The next thread's id, without looking at its checkpoints.
  std::optional<std::string> skip();

 private:
  struct Head {
    std::string thread_id;
    std::size_t checkpoints = 0;
  };

  bool read_line();
  [[noreturn]] void fail(const std::string& reason) const;
  Value parse() const;
  void read_first_line();
  std::optional<Head> read_head();
  // One of a thread, after so many.
  void read_checkpoint_line(const Head& head, std::size_t before);

  std::istream& in_;
  const std::string name_;
  std::string line_;
  std::size_t number_ = 0;
};

}  // namespace clew::cli
