// Values that are missing or damaged, made again from what the tasks wrote.
#include <set>

#include <clew/error.hpp>

#include "checkpoint/join_writes.hpp"
#include "checkpoint/sqlite/native_layout.hpp"

namespace clew::sqlite {
namespace {

constexpr std::string_view kStart = "__start__";

class NamespaceRecovery {
 public:
  NamespaceRecovery(Connection& connection, const Serializer& serializer,
                    const CheckpointKey& place, const RecoverOptions& options,
                    std::span<const StoredProblem> damaged, BlobRecovery& recovery)
      : connection_(connection),
        serializer_(serializer),
        place_(place),
        options_(options),
        recovery_(recovery),
        hash_(internal::namespace_hash(place.checkpoint_ns)) {
    for (const StoredProblem& problem : damaged) {
      if (problem.checkpoint_ns != place.checkpoint_ns) continue;
      damaged_.emplace(problem.channel, problem.version);
    }
  }

  // Oldest first: a value builds on the one before.
  void run() {
    for (const auto& [id, parent_id] : checkpoints()) {
      const Value versions = versions_of(id);
      for (auto [channel, version] : versions.items()) {
        if (is_trigger(channel)) continue;
        const std::string text(version_text(version).as_string());
        const bool is_damaged = damaged_.contains({std::string(channel), text});
        if (!is_damaged && is_stored(channel, text)) continue;
        recover(id, parent_id, channel, text, is_damaged);
      }
    }
  }

 private:
  bool is_stored(std::string_view channel, std::string_view version) {
    return connection_
        .value(
            "SELECT 1 FROM clew_blobs WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ?"
            " AND version = ?",
            place_.thread_id, place_.checkpoint_ns, channel, version)
        .has_value();
  }

  // None of a checkpoint that is damaged itself.
  Value versions_of(const std::string& id) {
    try {
      return reader().checkpoint(id).value()["channel_versions"];
    } catch (const Error&) {
      return object();
    }
  }

  std::vector<std::pair<std::string, std::string>> checkpoints() {
    std::vector<std::pair<std::string, std::string>> found;
    for (Rows rows = connection_.query(
             "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints WHERE thread_id = ?"
             " AND checkpoint_ns = ? ORDER BY checkpoint_id",
             place_.thread_id, place_.checkpoint_ns);
         rows.next();) {
      found.emplace_back(rows.text(0), rows.text(1));
    }
    return found;
  }

  // A new one each time: what an older one remembers may have been missing then.
  NativeReader reader() {
    return {connection_, serializer_, place_.thread_id, place_.checkpoint_ns};
  }

  void recover(const std::string& id, const std::string& parent_id, std::string_view channel,
               const std::string& version, bool is_damaged) {
    std::optional<Value> value;
    bool is_known_to_be_gone = false;
    try {
      value = channel == kStart ? input_of(id) : value_after(parent_id, channel);
      // The input is gone after the first step, and nothing else is known to go.
      is_known_to_be_gone = channel == kStart && !is_damaged;
    } catch (const Error&) {
      // What it is made of is damaged too.
    }
    if (!value && !is_known_to_be_gone) {
      recovery_.lost.push_back(std::string(channel) + " " + version);
      return;
    }
    TypedBytes data{std::string(kEmptyType), {}};
    if (value) data = serializer_.dumps_typed(*value);
    connection_.run(
        "INSERT OR REPLACE INTO clew_blobs (thread_id, checkpoint_ns, checkpoint_ns_hash,"
        " channel, version, type, blob_data) VALUES (?, ?, ?, ?, ?, ?, ?)",
        place_.thread_id, place_.checkpoint_ns, hash_, channel, version, data.tag,
        Blob{data.bytes});
    damaged_.erase({std::string(channel), version});
    ++recovery_.recovered;
  }

  // What the writes of the parent's step made of the value it had.
  std::optional<Value> value_after(const std::string& parent_id, std::string_view channel) {
    NativeReader before = reader();
    std::optional<Value> value = value_at(before, parent_id, channel);
    bool is_written = false;
    for (const PendingWrite& write : before.writes(parent_id)) {
      if (write.channel != channel) continue;
      value = value ? reduce(channel, *value, write.value) : write.value;
      is_written = true;
    }
    return is_written ? value : std::nullopt;
  }

  static std::optional<Value> value_at(NativeReader& reader, const std::string& id,
                                       std::string_view channel) {
    const Value map = reader.checkpoint(id).value();
    const Value& version = map["channel_versions"][channel];
    if (version.is_null()) return std::nullopt;
    const VersionChain& chain = reader.value(channel, version, {});
    return chain.empty() ? std::nullopt : std::optional(chain.value());
  }

  Value reduce(std::string_view channel, const Value& current, const Value& update) const {
    const auto reducer = options_.reducers.find(std::string(channel));
    return reducer == options_.reducers.end() ? internal::join_writes(current, update)
                                              : reducer->second(current, update);
  }

  // The input of a run is what its first step wrote.
  std::optional<Value> input_of(const std::string& id) {
    Value input = object();
    for (const PendingWrite& write : reader().writes(id)) {
      if (write.node != kStart || is_trigger(write.channel)) continue;
      input = input.set(write.channel, write.value);
    }
    return input.empty() ? std::nullopt : std::optional(input);
  }

  Connection& connection_;
  const Serializer& serializer_;
  const CheckpointKey& place_;
  const RecoverOptions& options_;
  BlobRecovery& recovery_;
  const std::string hash_;
  std::set<std::pair<std::string, std::string>> damaged_;  // channel and version
};

}  // namespace

BlobRecovery NativeLayout::recover_blobs(Connection& connection, const std::string& thread_id,
                                         const RecoverOptions& options) {
  const BlobRecovery recovery = recover_values(connection, thread_id, options, {});
  recount(connection, thread_id);
  return recovery;
}

BlobRecovery NativeLayout::recover_values(Connection& connection, const std::string& thread_id,
                                          const RecoverOptions& options,
                                          std::span<const StoredProblem> damaged) {
  BlobRecovery recovery;
  for (const std::string& ns : namespaces_of(connection, thread_id)) {
    const CheckpointKey place{thread_id, ns};
    unpack_namespace(connection, place);
    NamespaceRecovery(connection, *serializer_, place, options, damaged, recovery).run();
  }
  cache_.forget_thread(thread_id);
  return recovery;
}

}  // namespace clew::sqlite
