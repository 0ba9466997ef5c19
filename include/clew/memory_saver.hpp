// Keeps threads in memory, for tests, tools, and runs that need history but no
// disk.
//
//   auto saver = std::make_shared<InMemorySaver>();
//   auto app = graph.compile({.checkpointer = saver});
//
// Values are shared with the running graph, never copied or serialized, so a
// checkpoint costs what its step changed. list() goes namespace by namespace,
// in the order in which they appeared.
//
// All methods may be called from any thread; threads of the graph rarely wait
// for one another.
#pragma once

#include <memory>

#include <clew/checkpointer.hpp>

namespace clew {

class InMemorySaver final : public Checkpointer {
 public:
  InMemorySaver();
  ~InMemorySaver() override;

  std::optional<CheckpointTuple> get_tuple(const CheckpointKey& key) override;
  std::vector<CheckpointTuple> list(std::string_view thread_id,
                                    std::optional<std::string_view> checkpoint_ns,
                                    const ListOptions& options) override;
  void put(std::span<const CheckpointPut> puts) override;
  void put_writes(std::span<const WritesPut> puts) override;
  std::vector<DeltaHistory> get_delta_channel_history(
      const CheckpointKey& key, std::span<const std::string> channels) override;

  void delete_thread(std::string_view thread_id) override;
  void copy_thread(std::string_view source, std::string_view target) override;
  void prune(std::string_view thread_id, const PruneOptions& options) override;
  void delete_for_runs(std::span<const std::string> run_ids) override;
  std::vector<ThreadInfo> list_threads(const ThreadQuery& query) override;
  ThreadSize thread_size(std::string_view thread_id) override;
  bool waits_for_device() const override { return false; }

 private:
  struct Shard;

  Shard& shard_of(std::string_view thread_id) const;

  std::unique_ptr<Shard[]> shards_;
};

}  // namespace clew
