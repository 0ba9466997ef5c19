// What tests of checkpointers are written with: numbered checkpoints, and one
// readable line for each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <clew/checkpointer.hpp>

namespace clew {

// The id of checkpoint number `n`, and back; ids sort by number. 0 is none.
std::string test_id(int n);
int number_of(std::string_view id);

// Checkpoint number `n` under `parent` (0: none), with `values` whose channels
// all have a version of their own. Change what a test is about.
CheckpointPut make_put(std::string_view thread_id, int n, int parent, Value values = object());

void put(Checkpointer& saver, const CheckpointPut& one);
void put_writes(Checkpointer& saver, std::string_view thread_id, int n,
                const std::vector<ChannelWrite>& writes, std::string_view task_id,
                std::string_view task_path = "", std::string_view ns = "");

// Checkpoints 1 to `count` of a thread, each the parent of the next, {"n": number}.
void put_chain(Checkpointer& saver, std::string_view thread_id, int count);

// One line per checkpoint:
//   "3 <2 {"a":1} [t1.a=1 t2.b="x"]"   number, parent, values, pending writes
std::string render(const CheckpointTuple& tuple);
// With the namespace in front.
std::string render(const std::vector<CheckpointTuple>& tuples);

// The checkpoints of a thread, and the newest one or "none".
std::string history(Checkpointer& saver, std::string_view thread_id,
                    std::optional<std::string_view> ns = "", const ListOptions& options = {});
std::string newest(Checkpointer& saver, std::string_view thread_id, std::string_view ns = "");

// A delta snapshot, as channels store it.
Value snapshot(Value value);
// A checkpoint of thread "t" with a delta channel "d": its value, or null for
// none, and how many updates it had since the last snapshot.
CheckpointPut delta_put(int n, int parent, const Value& value, int updates);
// "seed=... writes=..."
std::string render(const DeltaHistory& history);
std::string delta_history(Checkpointer& saver, int n);

}  // namespace clew
