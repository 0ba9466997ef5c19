// What goes from threads, said before and after, as `clew delete` and `clew prune` do.
#pragma once

#include <string>
#include <vector>

#include <clew/checkpointer.hpp>

#include "cli/console.hpp"

namespace clew::cli {

struct Removal {
  std::string thread_id;
  ThreadSize before;
  ThreadSize after = {};
  // Of an Agent Server's thread.
  bool has_record = false;
  std::size_t runs = 0;

  bool is_empty() const { return before.checkpoints == after.checkpoints && !has_record; }
};

// A row for each thread.
void print_removals(const std::vector<Removal>& removals, Console& console);

// "2 threads: 17 checkpoints, 13.1 kB", of all of them together.
std::string sum_text(const std::vector<Removal>& removals);

Value to_value(const std::vector<Removal>& removals, bool is_dry_run);

// "1 thread", "1,234 threads".
std::string counted(std::size_t count, const std::string& noun);

}  // namespace clew::cli
