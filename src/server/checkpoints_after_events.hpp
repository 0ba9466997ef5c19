// A checkpointer that stores a checkpoint only when the events before it are stored.
//
//   auto saver = std::make_shared<CheckpointsAfterEvents>(SqliteSaver::open(path));
//   ... graphs are compiled with it, and the AgentServer gets it ...
//
// A run that goes on after a crash begins at its last checkpoint. All that it told
// before is then in the log, so that its stream goes on without a gap.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include <clew/checkpointer.hpp>

namespace clew::server {

class CheckpointsAfterEvents final : public Checkpointer {
 public:
  explicit CheckpointsAfterEvents(std::shared_ptr<Checkpointer> saver) : saver_(std::move(saver)) {}

  // Called before something of a thread is stored; empty: nothing is. Set while
  // no run executes.
  void set_gate(std::function<void(const std::string& thread_id)> gate) { gate_ = std::move(gate); }

  std::optional<CheckpointTuple> get_tuple(const CheckpointKey& key) override {
    return saver_->get_tuple(key);
  }
  std::vector<CheckpointTuple> list(std::string_view thread_id,
                                    std::optional<std::string_view> checkpoint_ns,
                                    const ListOptions& options) override {
    return saver_->list(thread_id, checkpoint_ns, options);
  }
  void put(std::span<const CheckpointPut> puts) override {
    pass(puts);
    saver_->put(puts);
  }
  void put_writes(std::span<const WritesPut> puts) override {
    pass(puts);
    saver_->put_writes(puts);
  }
  std::vector<DeltaHistory> get_delta_channel_history(
      const CheckpointKey& key, std::span<const std::string> channels) override {
    return saver_->get_delta_channel_history(key, channels);
  }
  Value next_version(const Value& current) const override { return saver_->next_version(current); }
  void delete_thread(std::string_view thread_id) override { saver_->delete_thread(thread_id); }
  void copy_thread(std::string_view source, std::string_view target) override {
    saver_->copy_thread(source, target);
  }
  void prune(std::string_view thread_id, const PruneOptions& options) override {
    saver_->prune(thread_id, options);
  }
  void delete_for_runs(std::span<const std::string> run_ids) override {
    saver_->delete_for_runs(run_ids);
  }
  std::vector<ThreadInfo> list_threads(const clew::ThreadQuery& query) override {
    return saver_->list_threads(query);
  }
  ThreadSize thread_size(std::string_view thread_id) override {
    return saver_->thread_size(thread_id);
  }
  bool waits_for_device() const override { return saver_->waits_for_device(); }
  bool stores_all_values() const override { return saver_->stores_all_values(); }
  // The API shows them.
  bool stores_places() const override { return true; }

 private:
  template <class Put>
  void pass(std::span<const Put> puts) const {
    if (!gate_) return;
    std::set<std::string> threads;
    for (const Put& put : puts) threads.insert(put.key.thread_id);
    for (const std::string& thread_id : threads) gate_(thread_id);
  }

  const std::shared_ptr<Checkpointer> saver_;
  std::function<void(const std::string&)> gate_;
};

}  // namespace clew::server
