// The checkpoints of a thread with what led to each and what follows it, without their
// values: the rows of `clew history`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <clew/checkpointer.hpp>
#include <clew/types.hpp>

#include "cli/step_tasks.hpp"

namespace clew::cli {

// A task as its stored writes tell of it.
struct TaskRecord {
  std::string id;
  std::string path;
  std::string node;                        // empty if nothing tells
  std::vector<std::string> channels = {};  // of the state, that it wrote
  std::vector<Interrupt> interrupts = {};
  std::vector<std::optional<Value>> answers = {};  // to each of them; nothing while it is open
  std::optional<std::string> error = {};
  bool is_finished = false;

  // Made by update_state() rather than by a node that ran.
  bool is_update() const { return path.starts_with("~__interrupt__"); }
  // "book", or the beginning of its id.
  std::string title() const;
};

// The tasks that left writes in the step that follows a checkpoint.
std::vector<TaskRecord> task_records(const CheckpointTuple& tuple, const KnownGraph& graph);

struct HistoryEntry {
  CheckpointKey key;
  std::string parent_id;
  std::string ts;
  Value metadata;
  std::vector<std::string> next;
  std::vector<TaskRecord> tasks;     // of the step that follows
  std::vector<std::string> input;    // what a run was given
  std::vector<std::string> changed;  // channels of the state that are newer than in the parent
  std::vector<TaskRecord> made_by;   // tasks of the parent's step

  std::string source() const;
  std::int64_t step() const;
};

struct History {
  std::vector<HistoryEntry> entries;  // oldest first
  bool is_complete = true;            // there are no older ones
};

// The newest `limit` of a namespace; 0 is all.
History read_history(Checkpointer& saver, const std::string& thread_id,
                     const std::string& checkpoint_ns, std::size_t limit);

// "study×2: notes; gather: count".
std::string made_by_text(const HistoryEntry& entry);
// "study×2, gather".
std::string names_text(const std::vector<std::string>& names);

}  // namespace clew::cli
