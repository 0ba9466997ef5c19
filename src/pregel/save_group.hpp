// Stores for many runs at once. While one thread waits for the device, what other runs
// bring gathers, and goes with its next call: in one commit, where the backend has them.
// Those runs keep no thread waiting.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <clew/checkpointer.hpp>
#include <clew/task.hpp>

#include "pregel/recycled.hpp"

namespace clew::pregel {

// Those of as many quick steps as are stored together, most of the time.
constexpr std::size_t kFewPuts = 4;
using CheckpointPuts = std::vector<CheckpointPut, FewAllocator<CheckpointPut, kFewPuts>>;

// What a run stores at a time.
struct SaveBatch {
  CheckpointPuts puts;
  std::vector<WritesPut> writes;  // made after the puts
};

void store(Checkpointer& checkpointer, std::span<const CheckpointPut> puts,
           std::span<const WritesPut> writes);

class SaveGroup : public std::enable_shared_from_this<SaveGroup> {
 public:
  // Why a batch was not stored; null if it was.
  using Done = std::function<void(std::exception_ptr)>;

  SaveGroup(std::shared_ptr<Checkpointer> checkpointer, Executor& executor);

  // If nobody is storing just now, this thread does, and `done` is called before it
  // returns. Otherwise a thread of the executor calls it.
  void store(SaveBatch batch, Done done);

 private:
  // Which part of what is stored together is a run's.
  struct Part {
    std::size_t puts = 0;  // how many
    std::size_t writes = 0;
    Done done;
    std::exception_ptr error = nullptr;
  };
  struct Gathered {
    SaveBatch all;
    std::vector<Part> parts;

    void add(SaveBatch batch, Done done);
  };

  void store_gathered();
  std::exception_ptr try_store(std::span<const CheckpointPut> puts,
                               std::span<const WritesPut> writes) const;
  void store_part_by_part(Gathered& gathered) const;
  std::vector<CheckpointPut> missing_of(std::span<const CheckpointPut> puts) const;
  void go_on();

  const std::shared_ptr<Checkpointer> checkpointer_;
  Executor& executor_;

  std::mutex mutex_;
  Gathered gathered_;
  bool is_storing_ = false;  // or about to
};

}  // namespace clew::pregel
