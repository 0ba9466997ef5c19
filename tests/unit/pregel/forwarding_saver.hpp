// A checkpointer that keeps everything in memory but is no InMemorySaver: the
// engine takes it for one that waits for a device, as databases do.
#pragma once

#include <clew/memory_saver.hpp>

namespace clew {

class ForwardingSaver : public Checkpointer {
 public:
  std::optional<CheckpointTuple> get_tuple(const CheckpointKey& key) override {
    return memory_.get_tuple(key);
  }
  std::vector<CheckpointTuple> list(std::string_view thread_id,
                                    std::optional<std::string_view> checkpoint_ns,
                                    const ListOptions& options) override {
    return memory_.list(thread_id, checkpoint_ns, options);
  }
  void put(std::span<const CheckpointPut> puts) override { memory_.put(puts); }
  void put_writes(std::span<const WritesPut> puts) override { memory_.put_writes(puts); }
  void delete_thread(std::string_view thread_id) override { memory_.delete_thread(thread_id); }
  void copy_thread(std::string_view source, std::string_view target) override {
    memory_.copy_thread(source, target);
  }
  void prune(std::string_view thread_id, const PruneOptions& options) override {
    memory_.prune(thread_id, options);
  }
  void delete_for_runs(std::span<const std::string> run_ids) override {
    memory_.delete_for_runs(run_ids);
  }
  std::vector<ThreadInfo> list_threads(const ThreadQuery& query) override {
    return memory_.list_threads(query);
  }
  ThreadSize thread_size(std::string_view thread_id) override {
    return memory_.thread_size(thread_id);
  }

 private:
  InMemorySaver memory_;
};

}  // namespace clew
