// Hands checkpoints and writes to the checkpointer in the order they were made.
// A backend that waits for no device gets them at once. For others they gather
// here until somebody flushes, or are stored behind the run's back. What is
// handed over is immutable, so a later step cannot change it.
//
// Nothing of a graph inside a task is stored before the checkpoint that the task
// belongs to: without that one it would be found by nobody.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <clew/checkpointer.hpp>
#include <clew/config.hpp>
#include <clew/task.hpp>

#include "pregel/save_group.hpp"
#include "pregel/watch.hpp"

namespace clew::pregel {

class SaveQueue {
 public:
  // `parent` is the queue of the graph around, or null.
  SaveQueue(std::shared_ptr<Checkpointer> checkpointer, Executor& executor, Watch& watch,
            Durability durability, const SaveQueue* parent);
  // Stores what is left, unless storing has failed before.
  ~SaveQueue();

  // Under durability `async` storing begins a millisecond or two from now, so that quick
  // steps share a commit; otherwise when flush() is called.
  void put(CheckpointPut&& put);

  // What a task wrote: stored with the next checkpoint, in one commit where the
  // backend can. `soon` if that may be long in coming: then storing begins a millisecond or
  // two from now, so that the tasks of a quick step still go with its checkpoint. Several
  // threads may call it at once. That it failed is not the task's error but the run's, which
  // hears of it from the next put() or flush().
  void put_writes(WritesPut&& put, bool soon);

  // Writes that must not be seen unless the next checkpoint is stored too.
  void put_with_next(WritesPut&& put);

  // At the end of a graph inside a task: leaves its last checkpoints to the queue of the
  // graph around, which stores them with the next of its own, in one commit where the
  // backend can. False if they have to be flushed.
  bool hand_over();

  // Until everything is stored; throws the first error there was, each time.
  // After an error nothing more is stored: what follows would build on a gap.
  void flush();

  // The same for the outermost graph, together with what other runs store. False if that
  // is under way elsewhere: this thread is free, and whoever is done with it calls `then`.
  // That has to flush() again, which now takes no time, to hear of an error.
  bool flush_or_leave(SaveGroup& group, std::function<void()> then);

 private:
  // The state is shared with the job that works it off, which may outlive us by a moment.
  struct Work;
  void begin();
  void put_writes_now(const WritesPut& put) noexcept;

  const std::shared_ptr<Checkpointer> checkpointer_;
  Executor& executor_;
  Watch& watch_;
  const bool is_async_;
  const std::shared_ptr<Work> work_;  // null: stored at once
  std::vector<WritesPut> with_next_;  // then, what waits for the next checkpoint
  std::mutex mutex_;
  std::exception_ptr error_;  // then, of put_writes(); read when no task runs
};

}  // namespace clew::pregel
