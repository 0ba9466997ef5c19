// A checkpointer that passes everything on to another, for tests to step in between. If that
// one is in memory, the engine takes this all the same for one that waits for a device, as
// databases do.
#pragma once

#include <memory>
#include <utility>

#include <clew/memory_saver.hpp>

namespace clew {

class ForwardingSaver : public Checkpointer {
 public:
  explicit ForwardingSaver(std::shared_ptr<Checkpointer> behind = std::make_shared<InMemorySaver>())
      : behind_(std::move(behind)) {}

  std::optional<CheckpointTuple> get_tuple(const CheckpointKey& key) override {
    return behind_->get_tuple(key);
  }
  std::vector<CheckpointTuple> list(std::string_view thread_id,
                                    std::optional<std::string_view> checkpoint_ns,
                                    const ListOptions& options) override {
    return behind_->list(thread_id, checkpoint_ns, options);
  }
  void put(std::span<const CheckpointPut> puts) override { behind_->put(puts); }
  void put_writes(std::span<const WritesPut> puts) override { behind_->put_writes(puts); }
  void delete_thread(std::string_view thread_id) override { behind_->delete_thread(thread_id); }
  void copy_thread(std::string_view source, std::string_view target) override {
    behind_->copy_thread(source, target);
  }
  void prune(std::string_view thread_id, const PruneOptions& options) override {
    behind_->prune(thread_id, options);
  }
  void delete_for_runs(std::span<const std::string> run_ids) override {
    behind_->delete_for_runs(run_ids);
  }
  std::vector<ThreadInfo> list_threads(const ThreadQuery& query) override {
    return behind_->list_threads(query);
  }
  ThreadSize thread_size(std::string_view thread_id) override {
    return behind_->thread_size(thread_id);
  }

 private:
  const std::shared_ptr<Checkpointer> behind_;
};

}  // namespace clew
