// How a file lays threads out in tables.
//
// Methods that take a Connection run inside the caller's transaction, or look at
// one state of the file. put() and put_writes() encode at once and return what
// is left to do in a transaction, so that nobody waits for another's encoding.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <clew/checkpointer.hpp>
#include <clew/serde.hpp>

#include "checkpoint/delta_history.hpp"
#include "checkpoint/retention.hpp"
#include "checkpoint/sqlite/database.hpp"
#include "checkpoint/thread_conflict.hpp"

namespace clew::sqlite {

// What the serializer makes of a write. If it refuses it, the error says whose it is.
inline TypedBytes encode_write(const Serializer& serializer, const WritesPut& put,
                               const ChannelWrite& write) {
  try {
    return serializer.dumps_typed(write.value);
  } catch (const SerdeError& error) {
    throw SerdeError("what node '" + put.node + "' wrote to channel '" + write.channel +
                     "' cannot be stored: " + error.what());
  }
}

// The id of the newest checkpoint there, or empty.
std::string newest_checkpoint(Connection& connection, const CheckpointKey& place);

// What a task wrote, and what is stored instead if the thread has moved on meanwhile; see
// ChannelWrite::only_at_head.
template <class Encoded>
struct EncodedTask {
  Encoded in_time;
  std::shared_ptr<const WritesPut> late_put;
  std::optional<Encoded> late;

  const Encoded& to_store(Connection& connection) const {
    if (!late) return in_time;
    const CheckpointKey& key = late_put->key;
    return newest_checkpoint(connection, key) > key.checkpoint_id ? *late : in_time;
  }
};

// What `encode` makes of each put that it does not refuse; the first reason why it refuses
// one is put into `unencodable`.
template <class Encode>
auto encode_each(std::span<const WritesPut> puts, std::exception_ptr& unencodable,
                 const Encode& encode) {
  using Encoded = decltype(encode(puts.front()));
  std::vector<EncodedTask<Encoded>> encoded;
  encoded.reserve(puts.size());
  for (const WritesPut& put : puts) {
    try {
      const auto late_put = internal::late_writes(put);
      std::optional<Encoded> late;
      if (late_put) late.emplace(encode(*late_put));
      encoded.push_back({encode(put), late_put, std::move(late)});
    } catch (...) {
      if (!unencodable) unencodable = std::current_exception();
    }
  }
  return encoded;
}

class Layout {
 public:
  Layout() = default;
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  virtual ~Layout() = default;

  // Whether nothing has to be made before the file can be used. Refuses tables of a newer Clew.
  virtual bool is_made(Connection& connection) = 0;
  // Makes the tables that are missing, or as they were made once.
  virtual void create(Connection& connection) = 0;
  // Throws CryptoError if the file was made with another key, or without one.
  virtual void check_key(Connection& connection) const = 0;

  // The change throws ThreadConflict before it writes anything. It refers to
  // `put`, which must live as long.
  virtual Database::Change put(const CheckpointPut& put) = 0;
  // Before and after those that are stored together, in their transaction.
  virtual void begin_puts() {}
  virtual void finish_puts(Connection&) {}

  // The same for what tasks wrote. Those that cannot be encoded are left out, and the first
  // reason is put into `unencodable`.
  virtual Database::Change put_writes(std::span<const WritesPut> puts,
                                      std::exception_ptr& unencodable) = 0;

  // The change that put() made for this thread and namespace was not committed.
  virtual void forget(const CheckpointKey&) {}

  virtual std::optional<CheckpointTuple> get_tuple(Connection& connection,
                                                   const CheckpointKey& key) = 0;
  // Whether there is something to be asked at hand.
  virtual bool knows_tuples() const { return false; }
  // The same if it takes no time, for there is none, or it is in memory but for a few rows.
  // Returns whether it does.
  virtual bool get_tuple_at_hand(Connection&, const CheckpointKey&,
                                 std::optional<CheckpointTuple>& /*found*/) {
    return false;
  }
  virtual std::vector<CheckpointTuple> list(Connection& connection, std::string_view thread_id,
                                            std::optional<std::string_view> checkpoint_ns,
                                            const ListOptions& options) = 0;

  // Reads many checkpoints of one thread and namespace, by their ids.
  virtual internal::GetTuple reader(Connection& connection, const CheckpointKey& /*place*/) {
    return [this, &connection](const CheckpointKey& key) { return get_tuple(connection, key); };
  }

  virtual void delete_thread(Connection& connection, std::string_view thread_id) = 0;
  virtual void copy_thread(Connection& connection, std::string_view source,
                           std::string_view target) = 0;
  void prune(Connection& connection, const std::string& thread_id, const PruneOptions& options);
  void delete_for_runs(Connection& connection, std::span<const std::string> run_ids);
  virtual std::vector<ThreadInfo> list_threads(Connection& connection,
                                               const ThreadQuery& query) = 0;
  virtual ThreadSize thread_size(Connection& connection, std::string_view thread_id) = 0;

  virtual BlobRecovery recover_blobs(Connection&, const std::string& /*thread_id*/,
                                     const RecoverOptions&) {
    return {};
  }

  // Adds to the report, so that what was found before an error stays found.
  virtual void verify(Connection& connection, const std::string& thread_id,
                      const VerifyOptions& options, VerifyReport& report) = 0;
  virtual RepairReport repair(Connection& connection, const std::string& thread_id,
                              const RecoverOptions& options) = 0;
  virtual std::vector<std::string> stored_threads(Connection& connection) = 0;

  // Gives a connection what SQL cannot say itself.
  virtual void add_functions(Connection&) const {}

  virtual bool stores_all_values() const = 0;

 protected:
  // What removing needs to know of a namespace, and how it is done.
  virtual internal::Retention retention(Connection& connection,
                                        const CheckpointKey& place) const = 0;
  virtual bool has_open_interrupt(Connection& connection, const CheckpointKey& key) const = 0;
  virtual Value newest_metadata(Connection& connection, const CheckpointKey& place) const = 0;
  // Removes all checkpoints but `kept`, and what only they needed.
  virtual void retain(Connection& connection, const CheckpointKey& place,
                      const internal::Retention& retention,
                      const internal::Retention::Ids& kept) = 0;
  virtual void delete_namespace(Connection& connection, const CheckpointKey& place) = 0;
  // Afterwards, for layouts that keep counts of a thread.
  virtual void recount(Connection&, std::string_view /*thread_id*/) {}

 private:
  void prune_namespace(Connection& connection, const CheckpointKey& place,
                       const PruneOptions& options);
};

// In the order in which they appeared.
std::vector<std::string> namespaces_of(Connection& connection, std::string_view thread_id);

// Throws CryptoError if that is what the serializer says of the type and bytes in the first row,
// if there is one: what it would add, others could not read.
void expect_readable(Rows rows, const Serializer& serializer);

std::unique_ptr<Layout> make_native_layout(Database& database,
                                           std::shared_ptr<const Serializer> serializer);
std::unique_ptr<Layout> make_langgraph_layout(Database& database,
                                              std::shared_ptr<const Serializer> serializer);

}  // namespace clew::sqlite
