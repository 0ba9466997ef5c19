// Looking for damage in the native layout, and repairing it.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <clew/errors.hpp>

#include "checkpoint/sqlite/native_layout.hpp"
#include "checkpoint/sqlite/verification.hpp"
#include "checkpoint/thread_query.hpp"

namespace clew::sqlite {
namespace {

using Kind = StoredProblem::Kind;

// A reader remembers what it has read. A new one now and then keeps that small; what it
// reads again, a chain at most, is little beside what it has read.
constexpr std::size_t kRowsPerReader = 512;
constexpr std::int64_t kBytesPerReader = 32 << 20;

class NamespaceCheck {
 public:
  NamespaceCheck(Connection& connection, const Serializer& serializer, CheckpointKey place,
                 VerifyProgress& progress, VerifyReport& report)
      : connection_(connection),
        serializer_(serializer),
        place_(std::move(place)),
        progress_(progress),
        report_(report) {}

  void run() {
    check_values();
    check_checkpoints();
    check_writes();
  }

 private:
  void check_values() {
    renew_reader();
    for (Rows rows = connection_.query(
             "SELECT channel, version, length(blob_data), packed_in FROM checkpoint_blobs"
             " WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY channel, version",
             place_.thread_id, place_.checkpoint_ns);
         rows.next() && progress_.next();) {
      ++report_.values;
      use_reader(rows.integer(2));
      const std::string channel(rows.text(0));
      const Value version(rows.text(1));
      const std::string origin(rows.text(3));
      if (error_of([&] { reader_->value(channel, version, {origin}); }))
        note_value(channel, version);
    }
  }

  // Why a value cannot be read: for what is in its own row, or in one that it builds on.
  void note_value(const std::string& channel, const Value& version) {
    Rows rows = connection_.query(
        "SELECT type, blob_data, base_version, base_checkpoint_id FROM checkpoint_blobs"
        " WHERE thread_id = ?"
        " AND checkpoint_ns = ? AND channel = ? AND version = ?",
        place_.thread_id, place_.checkpoint_ns, channel, version.as_string());
    rows.next();
    const std::string base(rows.text(2));
    const std::string base_checkpoint_id(rows.text(3));
    StoredProblem problem = problem_of(Kind::broken_chain);
    problem.channel = channel;
    problem.version = version.as_string();
    const auto own = error_of([&] { serializer_.loads_typed(rows.text(0), rows.text(1)); });
    if (own || base.empty()) {
      problem.kind = Kind::damaged_value;
      problem.what = "cannot be read: " + own.value_or("its row changed");
    } else if (!reader_->has_value(channel, base, {base_checkpoint_id})) {
      problem.what = "is a difference from version " + base + ", which is missing";
    } else if (error_of([&] { reader_->value(channel, Value(base), {base_checkpoint_id}); })) {
      problem.what = "is a difference from version " + base + ", which cannot be read";
    } else {
      problem.what = "is a difference that does not fit version " + base;
    }
    report_.problems.push_back(std::move(problem));
  }

  void check_checkpoints() {
    renew_reader();
    std::string previous;
    for (Rows rows = connection_.query(
             "SELECT checkpoint_id, parent_checkpoint_id, metadata_type, metadata,"
             " length(checkpoint), new_blobs, step_writes, data FROM checkpoints"
             " WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id",
             place_.thread_id, place_.checkpoint_ns);
         rows.next() && progress_.next();) {
      ++report_.checkpoints;
      use_reader(rows.integer(4));
      const std::string id(rows.text(0));
      const auto metadata =
          error_of([&] { decode_metadata(serializer_, rows.text(2), rows.text(3)); });
      if (metadata) {
        note(Kind::damaged_checkpoint, id, "has metadata that cannot be read: " + *metadata);
      }
      check_parent(id, std::string(rows.text(1)));
      check_packed(id, rows.text(5), rows.text(6), rows.text(7));
      if (!rows.is_null(6) && rows.text(1) != previous) {
        note(Kind::damaged_checkpoint, id, "has the writes of one that is not the one before");
      }
      check_content(id);
      previous = id;
    }
  }

  // As readers do, who tell more apart than SQL. Writes that cannot be decoded are found later.
  void check_packed(const std::string& id, std::string_view new_blobs, std::string_view step_writes,
                    std::string_view data) {
    const auto error = error_of([&] {
      PackedBlobs().read(new_blobs, data);
      check_packed_writes(step_writes, data);
    });
    if (error) note(Kind::damaged_checkpoint, id, *error);
  }

  void check_parent(const std::string& id, const std::string& parent_id) {
    if (parent_id.empty() || has_parent(connection_, place_, parent_id)) return;
    note(Kind::missing_parent, id, "follows " + parent_id + ", which is missing");
  }

  void check_content(const std::string& id) {
    Value content;
    Value versions;
    const auto error = error_of([&] {
      content = reader_->checkpoint(id).value();
      versions = content.at("channel_versions");
      static_cast<void>(content.get<std::string>("ts"));
      static_cast<void>(versions.items());
    });
    if (error) return note(Kind::damaged_checkpoint, id, "cannot be read: " + *error);
    for (auto [channel, version] : versions.items()) {
      check_reference(id, channel, version, NativeReader::origin_of(content, id, channel));
    }
  }

  // Checkpoints share most of their values: each is looked up when it is new.
  void check_reference(const std::string& id, std::string_view channel, const Value& version,
                       NativeReader::Origin origin) {
    if (is_trigger(channel)) return;
    Value& last = last_seen_[std::string(channel)];
    if (last == version) return;
    last = version;
    const std::string text(version_text(version).as_string());
    bool is_stored = true;  // also in a row that is damaged, which is told elsewhere
    static_cast<void>(error_of([&] { is_stored = reader_->has_value(channel, text, origin); }));
    if (is_stored) return;
    if (!missing_.emplace(channel, text).second) return;
    StoredProblem problem = problem_of(Kind::missing_value);
    problem.checkpoint_id = id;
    problem.channel = channel;
    problem.version = text;
    problem.what = "is missing";
    report_.problems.push_back(std::move(problem));
  }

  void check_writes() {
    for (Rows rows = connection_.query(
             "SELECT checkpoint_id, task_id, channel, type, blob_data FROM checkpoint_writes"
             " WHERE thread_id = ? AND checkpoint_ns = ?",
             place_.thread_id, place_.checkpoint_ns);
         rows.next() && progress_.next();) {
      ++report_.writes;
      const auto error = error_of([&] { serializer_.loads_typed(rows.text(3), rows.text(4)); });
      if (!error) continue;
      StoredProblem problem = problem_of(Kind::damaged_write);
      problem.checkpoint_id = rows.text(0);
      problem.task_id = rows.text(1);
      problem.channel = rows.text(2);
      problem.what = "cannot be read: " + *error;
      report_.problems.push_back(std::move(problem));
    }
  }

  StoredProblem problem_of(Kind kind) const {
    return {.kind = kind,
            .thread_id = place_.thread_id,
            .checkpoint_ns = place_.checkpoint_ns,
            .what = {}};
  }

  void note(Kind kind, const std::string& checkpoint_id, std::string what) {
    StoredProblem problem = problem_of(kind);
    problem.checkpoint_id = checkpoint_id;
    problem.what = std::move(what);
    report_.problems.push_back(std::move(problem));
  }

  void renew_reader() {
    reader_.emplace(connection_, serializer_, place_.thread_id, place_.checkpoint_ns);
    reader_rows_ = 0;
    reader_bytes_ = 0;
  }

  void use_reader(std::int64_t bytes) {
    reader_bytes_ += bytes;
    if (++reader_rows_ > kRowsPerReader || reader_bytes_ > kBytesPerReader) renew_reader();
  }

  Connection& connection_;
  const Serializer& serializer_;
  const CheckpointKey place_;
  VerifyProgress& progress_;
  VerifyReport& report_;
  std::optional<NativeReader> reader_;
  std::size_t reader_rows_ = 0;
  std::int64_t reader_bytes_ = 0;
  std::map<std::string, Value> last_seen_;                 // channel -> version
  std::set<std::pair<std::string, std::string>> missing_;  // channel and version
};

// Also those that have no checkpoint any more.
std::vector<std::string> stored_namespaces(Connection& connection, std::string_view thread_id) {
  std::vector<std::string> names;
  for (Rows rows =
           connection.query("SELECT checkpoint_ns FROM checkpoints WHERE thread_id = ?1 UNION"
                            " SELECT checkpoint_ns FROM clew_blobs WHERE thread_id = ?1 UNION"
                            " SELECT checkpoint_ns FROM clew_writes WHERE thread_id = ?1",
                            thread_id);
       rows.next();) {
    names.emplace_back(rows.text(0));
  }
  return names;
}

std::vector<StoredProblem> problems_of(const VerifyReport& report, Kind kind) {
  std::vector<StoredProblem> problems;
  std::ranges::copy_if(report.problems, std::back_inserter(problems),
                       [&](const StoredProblem& problem) { return problem.kind == kind; });
  return problems;
}

}  // namespace

void NativeLayout::verify(Connection& connection, const std::string& thread_id,
                          const VerifyOptions& options, VerifyReport& report) {
  VerifyProgress progress(options, report);
  for (const std::string& ns : stored_namespaces(connection, thread_id)) {
    NamespaceCheck(connection, *serializer_, {thread_id, ns}, progress, report).run();
    if (!report.is_complete) return;
  }
  verify_counts(connection, thread_id, report);
}

void NativeLayout::verify_counts(Connection& connection, const std::string& thread_id,
                                 VerifyReport& report) {
  const auto note = [&](std::string what) {
    report.problems.push_back(
        {.kind = Kind::wrong_counts, .thread_id = thread_id, .what = std::move(what)});
  };
  const ThreadSize size = thread_size(connection, thread_id);
  Rows rows = connection.query(
      "SELECT checkpoints, writes, bytes, checkpoint_id, status FROM threads WHERE thread_id = ?",
      thread_id);
  if (!rows.next()) {
    const bool is_stored = size.checkpoints + size.writes + size.values > 0;
    if (is_stored) note("is not in the table of threads");
    return;
  }
  const auto compare = [&](const std::string& noun, std::int64_t said, std::uint64_t found) {
    if (said == static_cast<std::int64_t>(found)) return;
    note("has " + std::to_string(found) + " " + noun + ", and " + std::to_string(said) +
         " in the table of threads");
  };
  compare("checkpoints", rows.integer(0), size.checkpoints);
  compare("writes", rows.integer(1), size.writes);
  compare("bytes", rows.integer(2), size.bytes);
  NativeReader reader(connection, *serializer_, thread_id, "");
  const std::string newest = reader.newest();
  if (rows.text(3) != newest) {
    return note("has the newest checkpoint '" + newest + "', and '" + std::string(rows.text(3)) +
                "' in the table of threads");
  }
  std::string status;
  const auto unreadable =
      error_of([&] { status = Value(internal::status_of(reader.writes(newest))).as_string(); });
  if (!unreadable && rows.text(4) != status) {
    note("is " + status + ", and " + std::string(rows.text(4)) + " in the table of threads");
  }
}

// Damaged values first: a difference from one that was made again needs nothing more. What
// cannot be made again stays as it is stored, for whoever has another key or can read
// more of it.
RepairReport NativeLayout::repair(Connection& connection, const std::string& thread_id,
                                  const RecoverOptions& options) {
  RepairReport repaired;
  VerifyReport report;
  verify(connection, thread_id, {}, report);
  for (const StoredProblem& problem : problems_of(report, Kind::missing_parent)) {
    // What is packed there is told by the parent.
    unpack(connection, {thread_id, problem.checkpoint_ns}, problem.checkpoint_id);
  }
  repaired.parents = forget_parents(connection, report);
  for (const Kind kind : {Kind::damaged_value, Kind::broken_chain}) {
    const std::vector<StoredProblem> damaged = problems_of(report, kind);
    const BlobRecovery recovery = recover_values(connection, thread_id, options, damaged);
    repaired.values += recovery.recovered;
    repaired.assumed += recovery.assumed.size();
    report = {};
    verify(connection, thread_id, {}, report);
  }
  if (!problems_of(report, Kind::wrong_counts).empty()) {
    connection.run(
        "INSERT OR IGNORE INTO clew_threads (thread_id, gmt_create, gmt_modified)"
        " VALUES (?1, ?2, ?2)",
        thread_id, table_time_now());
    repaired.is_counted = !error_of([&] { recount(connection, thread_id); });
    report = {};
    verify(connection, thread_id, {}, report);
  }
  cache_.forget_thread(thread_id);
  repaired.left = std::move(report.problems);
  return repaired;
}

std::vector<std::string> NativeLayout::stored_threads(Connection& connection) {
  std::vector<std::string> ids;
  for (Rows rows = connection.query(
           "SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM clew_blobs UNION"
           " SELECT thread_id FROM clew_writes UNION SELECT thread_id FROM clew_threads");
       rows.next();) {
    ids.emplace_back(rows.text(0));
  }
  return ids;
}

}  // namespace clew::sqlite
