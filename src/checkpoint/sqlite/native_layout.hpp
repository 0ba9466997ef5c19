// Clew's own layout: a row per super-step, three tables named as in LangGraph's
// databases for SQL to see, a table of threads, and values stored once per version,
// as differences where that pays. docs/format/sqlite.md describes it.
//
// native_schema.cpp makes the tables, native_write.cpp and native_read.cpp store
// and load checkpoints, row_pack.cpp says what is in a row besides the checkpoint,
// checkpoint_patch.cpp how that differs from another, native_threads.cpp has what
// concerns whole threads, native_recovery.cpp makes lost values again,
// native_verify.cpp finds and repairs damage, native_functions.cpp serves SQL.
#pragma once

#include "checkpoint/retention.hpp"
#include "checkpoint/sqlite/known_heads.hpp"
#include "checkpoint/sqlite/layout.hpp"
#include "checkpoint/sqlite/put_batch.hpp"
#include "checkpoint/sqlite/row_pack.hpp"
#include "checkpoint/sqlite/version_cache.hpp"
#include "checkpoint/table_text.hpp"
#include "value/text_hash.hpp"

namespace clew::sqlite {

using internal::version_text;

class NativeLayout final : public Layout {
 public:
  NativeLayout(Database& database, std::shared_ptr<const Serializer> serializer);

  bool is_made(Connection& connection) override;
  void create(Connection& connection) override;
  void check_key(Connection& connection) const override;

  Database::Change put(const CheckpointPut& put) override;
  void begin_puts() override;
  void finish_puts(Connection& connection) override;
  Database::Change put_writes(std::span<const WritesPut> puts,
                              std::exception_ptr& unencodable) override;
  void forget(const CheckpointKey& key) override;

  std::optional<CheckpointTuple> get_tuple(Connection& connection,
                                           const CheckpointKey& key) override;
  bool knows_tuples() const override { return true; }
  bool get_tuple_at_hand(Connection& connection, const CheckpointKey& key,
                         std::optional<CheckpointTuple>& found) override;
  std::vector<CheckpointTuple> list(Connection& connection, std::string_view thread_id,
                                    std::optional<std::string_view> checkpoint_ns,
                                    const ListOptions& options) override;

  internal::GetTuple reader(Connection& connection, const CheckpointKey& place) override;

  void delete_thread(Connection& connection, std::string_view thread_id) override;
  void copy_thread(Connection& connection, std::string_view source,
                   std::string_view target) override;
  std::vector<ThreadInfo> list_threads(Connection& connection, const ThreadQuery& query) override;
  ThreadSize thread_size(Connection& connection, std::string_view thread_id) override;

  BlobRecovery recover_blobs(Connection& connection, const std::string& thread_id,
                             const RecoverOptions& options) override;
  void verify(Connection& connection, const std::string& thread_id, const VerifyOptions& options,
              VerifyReport& report) override;
  RepairReport repair(Connection& connection, const std::string& thread_id,
                      const RecoverOptions& options) override;
  std::vector<std::string> stored_threads(Connection& connection) override;
  void add_functions(Connection& connection) const override;

  bool stores_all_values() const override { return false; }

 private:
  // native_schema.cpp
  bool begins_encrypted(Connection& connection) const;
  void add_key(Connection& connection) const;
  void try_key(Connection& connection) const;

  // native_write.cpp
  struct Version;
  struct PreparedPut;
  struct PreparedWrites;
  PreparedWrites prepare(const WritesPut& put) const;
  Lineage lineage_of(const CheckpointPut& put);
  Version next_version(const CheckpointPut& put, Lineage& lineage, std::string_view channel,
                       const Value& version) const;
  TypedBytes encode_metadata(const Value& metadata) const;

  // native_recovery.cpp
  // Makes values again that are missing, or damaged: of these the rows stay as they are
  // unless there is something to put in their place.
  BlobRecovery recover_values(Connection& connection, const std::string& thread_id,
                              const RecoverOptions& options,
                              std::span<const StoredProblem> damaged);

  // native_verify.cpp
  void verify_counts(Connection& connection, const std::string& thread_id, VerifyReport& report);

  // native_threads.cpp
  internal::Retention retention(Connection& connection, const CheckpointKey& place) const override;
  bool has_open_interrupt(Connection& connection, const CheckpointKey& key) const override;
  Value newest_metadata(Connection& connection, const CheckpointKey& place) const override;
  void retain(Connection& connection, const CheckpointKey& place,
              const internal::Retention& retention, const internal::Retention::Ids& kept) override;
  void delete_namespace(Connection& connection, const CheckpointKey& place) override;
  void recount(Connection& connection, std::string_view thread_id) override;

  Database& database_;
  const std::shared_ptr<const Serializer> serializer_;
  const bool is_plain_;
  VersionCache cache_;

  // For changes.
  KnownHeads heads_;
  std::optional<PutBatch> batch_;
};

// What stands in a column `type` besides the tags of serializers.
inline constexpr std::string_view kEmptyType = "empty";  // the channel holds nothing
inline constexpr std::string_view kJsonType = "json";    // metadata that SQL can look into

// Times as they stand in columns: "2026-11-15 21:02:24.958852", UTC.
std::string table_time_now();

// A column that may be NULL, from a text or null.
inline std::optional<std::string_view> nothing_if_null(const Value& text) {
  return text.is_null() ? std::nullopt : std::optional(text.as_string());
}

// Channels that only say which node runs next change with every step. They are
// stored with the checkpoint, as its "triggers", and have no blobs.
bool is_trigger(std::string_view channel);

// What is packed in the row of a checkpoint, or in all of a namespace, gets rows of its own:
// some things cannot be done to it otherwise.
void unpack(Connection& connection, const CheckpointKey& place, std::string_view checkpoint_id);
void unpack_namespace(Connection& connection, const CheckpointKey& place);
// The same for what tasks wrote in the step of a checkpoint.
void unpack_writes(Connection& connection, const CheckpointKey& key);

// Loads checkpoints of one thread and namespace. What several of them share is
// read and decoded once.
class NativeReader {
 public:
  NativeReader(Connection& connection, const Serializer& serializer, std::string_view thread_id,
               std::string_view checkpoint_ns);

  // The id of the newest checkpoint, or empty.
  std::string newest();

  // Nothing if it is not stored. `known`, if given, saves loading its values.
  std::optional<CheckpointTuple> get_tuple(const std::string& checkpoint_id,
                                           const VersionCache::Known* known);
  // Appends to `found` until it holds options.limit. What the checkpoints refer to
  // is read by the dozen.
  void list(const ListOptions& options, std::vector<CheckpointTuple>& found);

  // The checkpoint with the chains it stands in.
  Lineage lineage(const std::string& checkpoint_id);

  std::vector<PendingWrite> writes(std::string_view checkpoint_id);

  // The checkpoint that a version came with: this one, or else the earlier one. Empty if they
  // are not known: then all of them are looked at. Not to be kept: what it refers to is not its.
  struct Origin {
    std::string_view checkpoint_id = {};
    std::string_view earlier = {};
  };
  // Of the version that a checkpoint names, by what checkpoint() returns.
  static Origin origin_of(const Value& checkpoint, std::string_view checkpoint_id,
                          std::string_view channel);

  // Empty if it is not stored, or if the channel holds nothing. Valid until the next call
  // about a checkpoint, or about the channel.
  const VersionChain& checkpoint(std::string_view checkpoint_id);
  const VersionChain& value(std::string_view channel, const Value& version, Origin origin);

  // Whether the version is stored, readable or not.
  bool has_value(std::string_view channel, std::string_view version, Origin origin);

 private:
  // Of a channel, or of the checkpoints; by version.
  struct Versions {
    internal::ByText<VersionChain> known;  // what others may be based on
    Value last_version;
    VersionChain last;                   // loaded last: most checkpoints name the same again
    internal::ByText<StoredBlob> ahead;  // read, and not yet asked for

    const VersionChain* find(std::string_view version) const;
  };

  // What is packed in a row: the writes of the step of a checkpoint.
  struct StepWrites {
    std::string checkpoint_id;
    std::vector<StoredWrite> writes;

    // If they are those of this one; else there are none.
    std::vector<StoredWrite> take(std::string_view id);
  };

  // Without its writes.
  CheckpointTuple tuple(std::string id, std::string parent_id, Value metadata, const Value& map,
                        Value channel_values) const;
  void add_writes(std::span<CheckpointTuple> newest_first,
                  std::span<std::vector<StoredWrite>> packed);
  std::vector<StoredWrite> writes_after(std::string_view checkpoint_id);
  // From columns base_checkpoint_id, place, type, checkpoint of a list.
  Value listed_checkpoint(const std::string& id, const Rows& rows, int column);
  // `at_hand` is what is packed in its row, if the row is being read.
  Value channel_values(const Value& checkpoint, std::string_view checkpoint_id,
                       const PackedBlobs& at_hand);
  Versions& versions_of(std::string_view channel);
  std::optional<StoredBlob> find_checkpoint(std::string_view id);
  std::optional<StoredBlob> find_value(Versions& versions, std::string_view channel,
                                       std::string_view version, Origin origin);
  std::vector<std::string> read_packed(std::string_view checkpoint_id);
  std::vector<std::string> add_packed(std::string_view checkpoint_id, std::string_view new_blobs,
                                      std::string_view data);
  std::optional<StoredBlob> find_alone(Versions& versions, std::string_view channel,
                                       std::string_view version);
  void read_ahead(Versions& versions, std::string_view channel, std::string_view version);
  std::optional<StoredBlob> search(Versions& versions, std::string_view version);
  using ApplyPatch = Value(const Value& older, const Value& patch);
  template <class FindRow>
  const VersionChain& load(Versions& versions, const Value& version, Origin origin,
                           const FindRow& find_row, ApplyPatch& apply);

  Connection& connection_;
  const Serializer& serializer_;
  const std::string thread_id_;
  const std::string checkpoint_ns_;
  Versions checkpoints_;
  internal::ByText<Versions> channels_;
  std::string last_read_;       // the checkpoint that was looked into last for what is packed
  std::size_t rows_ahead_ = 0;  // how many of a channel are read for a list at once
};

// Whether the serializer hides nothing from whoever reads the file.
bool is_plain(const Serializer& serializer);

Value decode_metadata(const Serializer& serializer, std::string_view type, std::string_view bytes);

}  // namespace clew::sqlite
