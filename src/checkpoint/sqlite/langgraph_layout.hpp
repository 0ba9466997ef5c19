// The tables of langgraph-checkpoint-sqlite, written as Python writes them and
// read whoever wrote them. A checkpoint is one row that holds all its values.
//
//   checkpoints  thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
//                type, checkpoint (the map through the serializer), metadata (JSON)
//   writes       thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
//                channel, type, value
//
// The row that was stored or read last of each namespace is kept in memory: it is read from
// there while nobody else commits to the file, and the next one is encoded by copying from it
// what stays.
#pragma once

#include "checkpoint/sqlite/checkpoint_cache.hpp"
#include "checkpoint/sqlite/layout.hpp"
#include "checkpoint/sqlite/place_cache.hpp"
#include "checkpoint/sqlite/spent_documents.hpp"
#include "value/msgpack_document.hpp"

namespace clew::sqlite {

class VerifyProgress;

class LangGraphLayout final : public Layout {
 public:
  LangGraphLayout(Database& database, std::shared_ptr<const Serializer> serializer);

  bool is_made(Connection& connection) override;
  void create(Connection& connection) override;
  void check_key(Connection& connection) const override;
  Database::Change put(const CheckpointPut& put) override;
  Database::Change put_writes(std::span<const WritesPut> puts,
                              std::exception_ptr& unencodable) override;
  void forget(const CheckpointKey& key) override;
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
  struct EncodedCheckpoint;
  EncodedCheckpoint encode_checkpoint(const CheckpointPut& put, const Value& map);
  std::optional<CheckpointTuple> get_known(Connection& connection, const CheckpointKey& key,
                                           const Era& era);
  CheckpointCache::Row load_row(Connection& connection, const CheckpointKey& key) const;
  CheckpointTuple tuple(Connection& connection, const CheckpointKey& key,
                        const CheckpointRow& row) const;
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

  Database& database_;
  const std::shared_ptr<const Serializer> serializer_;
  const JsonPlusSerializer* const plain_;  // the serializer, if it is one that only encodes

  const std::shared_ptr<SpentDocuments> spent_documents_ = std::make_shared<SpentDocuments>();
  CheckpointCache checkpoints_{8 << 20};
  PlaceCache<std::shared_ptr<const internal::MsgpackDocument>> encodings_{8 << 20};
};

}  // namespace clew::sqlite
