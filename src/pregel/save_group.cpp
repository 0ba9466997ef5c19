#include "pregel/save_group.hpp"

#include <iterator>
#include <utility>

namespace clew::pregel {
namespace {

template <class Vector>
void move_to_end(Vector& from, Vector& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Cuts so many off the beginning.
template <class T>
std::span<const T> take(std::span<const T>& from, std::size_t count) {
  const std::span<const T> taken = from.first(count);
  from = from.subspan(count);
  return taken;
}

}  // namespace

void store(Checkpointer& checkpointer, std::span<const CheckpointPut> puts,
           std::span<const WritesPut> writes) {
  if (!puts.empty()) checkpointer.put(puts);
  if (!writes.empty()) checkpointer.put_writes(writes);
}

void SaveGroup::Gathered::add(SaveBatch batch, Done done) {
  parts.push_back({batch.puts.size(), batch.writes.size(), std::move(done)});
  move_to_end(batch.puts, all.puts);
  move_to_end(batch.writes, all.writes);
}

SaveGroup::SaveGroup(std::shared_ptr<Checkpointer> checkpointer, Executor& executor)
    : checkpointer_(std::move(checkpointer)), executor_(executor) {}

void SaveGroup::store(SaveBatch batch, Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_storing_, true)) return gathered_.add(std::move(batch), std::move(done));
  }
  const std::exception_ptr error = try_store(batch.puts, batch.writes);
  // First the others: what this run does next may take long.
  go_on();
  done(error);
}

// Elsewhere, as this thread has a run to go on with.
void SaveGroup::go_on() {
  {
    const std::lock_guard lock(mutex_);
    is_storing_ = !gathered_.parts.empty();
    if (!is_storing_) return;
  }
  executor_.post([self = shared_from_this()] { self->store_gathered(); });
}

void SaveGroup::store_gathered() {
  Gathered gathered;
  {
    const std::lock_guard lock(mutex_);
    gathered = std::exchange(gathered_, {});
  }
  const std::exception_ptr error = try_store(gathered.all.puts, gathered.all.writes);
  if (error && gathered.parts.size() > 1) {
    store_part_by_part(gathered);
  } else {
    gathered.parts.front().error = error;
  }
  go_on();
  for (Part& part : gathered.parts) {
    executor_.post([done = std::move(part.done), error = part.error] { done(error); });
  }
}

std::exception_ptr SaveGroup::try_store(std::span<const CheckpointPut> puts,
                                        std::span<const WritesPut> writes) const {
  try {
    pregel::store(*checkpointer_, puts, writes);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// What failed for one run, perhaps with a ThreadConflict, need not concern the others. Each
// is told what it meets itself.
void SaveGroup::store_part_by_part(Gathered& gathered) const {
  std::span<const CheckpointPut> puts = gathered.all.puts;
  std::span<const WritesPut> writes = gathered.all.writes;
  for (Part& part : gathered.parts) {
    const auto own_puts = take(puts, part.puts);
    const auto own_writes = take(writes, part.writes);
    try {
      part.error = try_store(missing_of(own_puts), own_writes);
    } catch (...) {
      part.error = std::current_exception();
    }
  }
}

// Those that were stored before something failed would meet themselves as what moved the
// thread. Writes may be stored twice.
std::vector<CheckpointPut> SaveGroup::missing_of(std::span<const CheckpointPut> puts) const {
  std::vector<CheckpointPut> missing;
  for (const CheckpointPut& put : puts) {
    const CheckpointKey key{put.key.thread_id, put.key.checkpoint_ns, put.checkpoint.id};
    if (!checkpointer_->get_tuple(key)) missing.push_back(put);
  }
  return missing;
}

}  // namespace clew::pregel
