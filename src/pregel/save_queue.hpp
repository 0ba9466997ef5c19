// Hands checkpoints and writes to the checkpointer in the order they were made:
// at once, or behind the run's back under durability `async`. What is handed
// over is immutable, so a later step cannot change it.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include <clew/checkpointer.hpp>
#include <clew/task.hpp>

namespace clew::pregel {

class SaveQueue {
 public:
  // In the background only if `overlap` and the checkpointer waits for a device.
  SaveQueue(std::shared_ptr<Checkpointer> checkpointer, Executor& executor, bool overlap);
  ~SaveQueue() { wait(); }

  void put(CheckpointPut put);
  void put_writes(CheckpointKey key, std::vector<ChannelWrite> writes, std::string_view task_id,
                  std::string_view task_path);

  // Until everything is stored; throws the first error there was. After an
  // error nothing more is stored: what follows would build on a gap.
  void flush();

 private:
  // The state is shared with the job that works it off, which may outlive us by a moment.
  struct Work;
  void add(std::function<void()> save);
  void wait() noexcept;

  std::shared_ptr<Checkpointer> checkpointer_;
  Executor& executor_;
  bool in_background_;
  std::shared_ptr<Work> work_;
};

}  // namespace clew::pregel
