// The tables of langgraph-checkpoint-sqlite, written as Python writes them and
// read whoever wrote them. A checkpoint is one row that holds all its values.
//
//   checkpoints  thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
//                type, checkpoint (the map through the serializer), metadata (JSON)
//   writes       thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
//                channel, type, value
#pragma once

#include "checkpoint/sqlite/layout.hpp"

namespace clew::sqlite {

class VerifyProgress;

class LangGraphLayout final : public Layout {
 public:
  explicit LangGraphLayout(std::shared_ptr<const Serializer> serializer)
      : serializer_(std::move(serializer)) {}

  void create(Connection& connection) override;
  PutChange put(const CheckpointPut& put) override;
  Database::Change put_writes(std::span<const WritesPut> puts,
                              std::exception_ptr& unencodable) override;
  std::optional<CheckpointTuple> get_tuple(Connection& connection,
                                           const CheckpointKey& key) override;
  std::vector<CheckpointTuple> list(Connection& connection, std::string_view thread_id,
                                    std::optional<std::string_view> checkpoint_ns,
                                    const ListOptions& options) override;

  void delete_thread(Connection& connection, std::string_view thread_id) override;
  void copy_thread(Connection& connection, std::string_view source,
                   std::string_view target) override;
  std::vector<ThreadInfo> list_threads(Connection& connection, const ThreadQuery& query) override;
  ThreadSize thread_size(Connection& connection, std::string_view thread_id) override;
  void verify(Connection& connection, const std::string& thread_id, const VerifyOptions& options,
              VerifyReport& report) override;
  RepairReport repair(Connection& connection, const std::string& thread_id,
                      const RecoverOptions& options) override;
  std::vector<std::string> stored_threads(Connection& connection) override;

  bool stores_all_values() const override { return true; }

 private:
  Checkpoint load_checkpoint(std::string_view id, std::string_view tag,
                             std::string_view bytes) const;
  std::vector<PendingWrite> load_writes(Connection& connection, const CheckpointKey& key) const;

  // langgraph_verify.cpp
  void verify_checkpoints(Connection& connection, const std::string& thread_id,
                          VerifyProgress& progress, VerifyReport& report) const;
  void verify_writes(Connection& connection, const std::string& thread_id, VerifyProgress& progress,
                     VerifyReport& report) const;

  ThreadInfo describe(Connection& connection, std::string_view thread_id,
                      std::size_t checkpoints) const;
  internal::Retention retention(Connection& connection, const CheckpointKey& place) const override;
  bool has_open_interrupt(Connection& connection, const CheckpointKey& key) const override;
  Value newest_metadata(Connection& connection, const CheckpointKey& place) const override;
  void retain(Connection& connection, const CheckpointKey& place,
              const internal::Retention& retention, const internal::Retention::Ids& kept) override;
  void delete_namespace(Connection& connection, const CheckpointKey& place) override;

  std::shared_ptr<const Serializer> serializer_;
};

}  // namespace clew::sqlite
