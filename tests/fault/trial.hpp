// One thread in one file, run by one process after another until it is at its
// end. After each of them the file is examined: what the processes noted in the
// sink must agree with what it holds.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <clew/sqlite_saver.hpp>

#include "checks.hpp"
#include "graphs.hpp"

namespace clew::fault {

// A kind of run.
struct Kind {
  Shape shape = Shape::chain;
  Durability durability = Durability::sync;
  SqliteLayout layout = SqliteLayout::native;
  SqliteSynchronous synchronous = SqliteSynchronous::full;
};

std::string text_of(const Kind& kind);

class Trial {
 public:
  Trial(const std::filesystem::path& folder, const Kind& kind, const Behaviour& behaviour);

  // In a process of its own.
  std::shared_ptr<SqliteSaver> open() const;
  void run_to_end(std::shared_ptr<SqliteSaver> saver);

  // When that process is gone: throws Error if it relied on something that is
  // not stored, or did again what was.
  void check();
  // And the last one: also that the thread is at its end, by one way. Returns its state.
  Value check_end();

  Sink& sink() { return sink_; }
  // What the processes noted, to be read.
  std::string story() const;

 private:
  Kind kind_;
  Behaviour behaviour_;
  std::string path_;
  Sink sink_;
  Config thread_;
  std::size_t lines_checked_ = 0;
  std::vector<Stored> stored_;  // after each process
};

}  // namespace clew::fault
