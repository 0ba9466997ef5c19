// The tables on one connection, within one transaction.
#pragma once

#include <string>
#include <string_view>

#include "checkpoint/sqlite/connection.hpp"
#include "server/repository.hpp"
#include "server/sqlite/codec.hpp"

namespace clew::server::sqlite {

using clew::sqlite::Connection;
using clew::sqlite::Rows;

// Entries of metadata by which rows of one kind are found.
class LabelIndex {
 public:
  LabelIndex(Connection& connection, const Codec& codec, std::string_view kind)
      : connection_(connection), codec_(codec), kind_(kind) {}

  // Both metadata are null where there is no row.
  void replace(std::string_view id, const Value& before, const Value& after, Time created_at);

  const Codec& codec() const { return codec_; }
  std::string_view kind() const { return kind_; }

 private:
  Connection& connection_;
  const Codec& codec_;
  std::string_view kind_;
};

// One way through a table: along a label, along a column, or all of it.
struct Walk {
  std::string_view columns;  // of the table `t`
  std::string_view table;
  std::string_view key;        // its column with the id
  std::string condition = {};  // on `t`, with one parameter; empty: none
  std::string argument = {};
  Sort sort = {};
};

// What a walk may go along: entries that the metadata must have, whoever asks for them.
Value conditions(const Value& owner, const Value& metadata);

// Calls `visit` for each row in order until it returns false. Goes along a label
// of `wanted` if there is one, and along `walk.condition` only otherwise: whoever
// visits checks all conditions.
void walk_rows(Connection& connection, const Walk& walk, const LabelIndex& index,
               const Value& wanted, const std::function<bool(Rows&)>& visit);

class SqliteAssistants final : public AssistantTable {
 public:
  SqliteAssistants(Connection& connection, const Codec& codec)
      : connection_(connection), codec_(codec), labels_(connection, codec, "assistant") {}

  std::optional<Assistant> get(std::string_view id, const Value& owner) const override;
  Found<Assistant> search(const AssistantQuery& query) const override;
  std::size_t count(const AssistantQuery& query) const override;
  void put(const Assistant& assistant) override;
  void erase(std::string_view id) override;
  std::vector<Assistant> versions(std::string_view id) const override;
  void put_version(const Assistant& assistant) override;

 private:
  Assistant read_row(Rows& rows) const;
  void visit(const AssistantQuery& query, const std::function<bool(Assistant)>& each) const;

  Connection& connection_;
  const Codec& codec_;
  LabelIndex labels_;
};

class SqliteThreads final : public ThreadTable {
 public:
  SqliteThreads(Connection& connection, const Codec& codec)
      : connection_(connection), codec_(codec), labels_(connection, codec, "thread") {}

  std::optional<Thread> get(std::string_view id, const Value& owner) const override;
  Found<Thread> search(const ThreadQuery& query) const override;
  std::size_t count(const ThreadQuery& query) const override;
  std::vector<Thread> expired(Time now, std::size_t limit) const override;
  void put(const Thread& thread) override;
  void erase(std::string_view id) override;

 private:
  Thread read_row(Rows& rows, Value metadata) const;
  // Rows that match; `each` gets them with their metadata.
  void visit(const ThreadQuery& query, const std::function<bool(Rows&, Value)>& each) const;

  Connection& connection_;
  const Codec& codec_;
  LabelIndex labels_;
};

class SqliteRuns final : public RunTable {
 public:
  SqliteRuns(Connection& connection, const Codec& codec) : connection_(connection), codec_(codec) {}

  std::optional<Run> get(std::string_view thread_id, std::string_view run_id) const override;
  std::vector<Run> list(const RunQuery& query) const override;
  std::vector<Run> unfinished(std::string_view thread_id) const override;
  void put(const Run& run) override;
  void erase(std::string_view run_id) override;

 private:
  Run read_row(Rows& rows) const;

  Connection& connection_;
  const Codec& codec_;
};

class SqliteCrons final : public CronTable {
 public:
  SqliteCrons(Connection& connection, const Codec& codec)
      : connection_(connection), codec_(codec), labels_(connection, codec, "cron") {}

  std::optional<Cron> get(std::string_view id, const Value& owner) const override;
  Found<Cron> search(const CronQuery& query) const override;
  std::size_t count(const CronQuery& query) const override;
  std::optional<Cron> next() const override;
  void put(const Cron& cron) override;
  void erase(std::string_view id) override;

 private:
  Cron read_row(Rows& rows) const;
  void visit(const CronQuery& query, const std::function<bool(Cron)>& each) const;

  Connection& connection_;
  const Codec& codec_;
  LabelIndex labels_;
};

class SqliteEvents final : public EventTable {
 public:
  SqliteEvents(Connection& connection, const Codec& codec)
      : connection_(connection), codec_(codec) {}

  std::vector<Event> read(std::string_view thread_id, std::int64_t place,
                          std::size_t limit) const override;
  EventTail tail(std::string_view thread_id) const override;
  std::int64_t last_seq(std::string_view run_id) const override;
  std::optional<std::int64_t> place_of(std::string_view run_id, std::int64_t seq) const override;
  std::optional<std::int64_t> place_of_checkpoint(std::string_view run_id,
                                                  std::string_view checkpoint_id) const override;
  std::int64_t place_at(std::string_view thread_id, std::int64_t ms,
                        std::int64_t seq) const override;
  std::int64_t place_of_protocol(std::string_view thread_id,
                                 std::int64_t protocol_seq) const override;
  void append(std::span<const Event> events) override;
  void erase_run(std::string_view run_id) override;
  void erase_thread(std::string_view thread_id) override;
  void erase_orphans() override;

 private:
  Connection& connection_;
  const Codec& codec_;
};

class SqliteTables final : public Tables {
 public:
  SqliteTables(Connection& connection, const Codec& codec)
      : assistants_(connection, codec),
        threads_(connection, codec),
        runs_(connection, codec),
        crons_(connection, codec),
        events_(connection, codec) {}

  AssistantTable& assistants() override { return assistants_; }
  ThreadTable& threads() override { return threads_; }
  RunTable& runs() override { return runs_; }
  CronTable& crons() override { return crons_; }
  EventTable& events() override { return events_; }

 private:
  SqliteAssistants assistants_;
  SqliteThreads threads_;
  SqliteRuns runs_;
  SqliteCrons crons_;
  SqliteEvents events_;
};

// A page of what `visit` hands out one by one.
template <class Row, class Visit>
Found<Row> take_page(const Page& page, const Visit& visit) {
  Found<Row> found;
  std::size_t skipped = 0;
  visit([&](auto make) {
    if (skipped < page.offset) {
      ++skipped;
      return true;
    }
    if (found.rows.size() == page.limit) {
      found.has_more = true;
      return false;
    }
    found.rows.push_back(make());
    return true;
  });
  return found;
}

}  // namespace clew::server::sqlite
