// One SQLite file: a connection that writes, and as many that read as there are
// readers at a time.
//
// Writers share commits. While one group is committed the next one gathers, and
// whoever came first commits it for all, so a thousand concurrent runs cost a
// handful of syncs, and each still returns when its own change is durable.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <clew/sqlite_saver.hpp>

#include "checkpoint/sqlite/connection.hpp"
#include "checkpoint/sqlite/own_commits.hpp"

namespace clew::sqlite {

class Database {
 public:
  using Change = std::function<void(Connection&)>;

  Database(std::string path, const SqliteOptions& options);

  // Runs `change` in a transaction that it may share with others, and returns
  // when it is committed. What `change` throws undoes it alone. It may change
  // anything: what is known of the file is forgotten.
  void write(const Change& change);

  // The same, and cheaper for many at once, of a change that can be run again: if one of
  // those in a transaction fails, it is undone and each of them is run in its own. Whoever
  // knows something of the file keeps track of what these change.
  void write_repeatable(const Change& change);

  // Runs `look` on a connection that sees one state of the file throughout.
  template <class Look>
  auto read(const Look& look) {
    const Reader reader(*this);
    const Snapshot snapshot(*reader.connection);
    return look(*reader.connection);
  }

  // The same on the connection that writes, while nobody does: what that one has in memory is
  // what the file holds, where another reads again what was written meanwhile. `look` returns
  // whether it has found what it looks for; it must not take long, as writers wait for it. False
  // also if somebody writes, or if there were several such reads since the last commit: another
  // connection knows the file again by then, and does not keep writers waiting.
  template <class Look>
  bool read_at_hand(const Look& look) {
    constexpr std::size_t kMostReads = 8;
    if (reads_at_hand_.load(std::memory_order_relaxed) >= kMostReads) return false;
    reads_at_hand_.fetch_add(1, std::memory_order_relaxed);
    const std::unique_lock lock(writer_mutex_, std::try_to_lock);
    if (!lock || writer_->in_transaction()) return false;
    const Snapshot snapshot(*writer_);
    return look(*writer_);
  }

  // Outside of any transaction, on the connection that writes.
  void maintain(const Change& work);

  // How many bytes of pages the connection that writes keeps in memory.
  void keep_pages(std::size_t bytes);

  // Begins to know whether the file changes, as every commit does, unless somebody else writes.
  void watch();

  // Whether what is known of the file is still so; see own_commits.hpp.
  std::optional<Era> era() const { return own_commits_.era(); }
  // For a change: the number of its transaction, and whether what was noted in an earlier one
  // still holds.
  std::uint64_t transaction() const { return own_commits_.current(); }
  bool holds(std::uint64_t transaction) const { return own_commits_.holds(transaction); }

  std::uint64_t commits() const { return commits_.load(std::memory_order_relaxed); }

 private:
  struct Request {
    const Change* change;
    bool is_repeatable;
    std::exception_ptr error = nullptr;
  };

  // Requests that are committed together, by the first: it lives there as long. All others wait
  // until it has ended, which one call of the system tells them all, and need no lock then. (An
  // atomic would do, but waiting for one begins with giving the processor away several times.)
  struct Group {
    std::vector<Request*> requests;
    std::optional<std::promise<void>> end = {};  // if anybody waits
    std::shared_future<void> ended = {};

    std::shared_future<void> join(Request& request);
  };

  // Borrows a connection. A file in memory has only one, which writes too.
  struct Reader {
    explicit Reader(Database& database);
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader();

    Database& owner;
    std::unique_ptr<Connection> borrowed;
    std::unique_lock<std::mutex> lock;
    Connection* connection;
  };

  std::unique_ptr<Connection> connect() const;
  std::unique_ptr<Connection> idle_reader();
  std::unique_ptr<Connection> new_reader();
  void write(Request& request);
  std::shared_future<void> join_or_begin(Request& request, Group& begun);
  void commit_gathered(Group& group);
  void commit(std::span<Request* const> group);
  bool apply_together(std::span<Request* const> group);
  void commit_one_by_one(std::span<Request* const> group);
  void apply(Request& request, bool is_alone);
  void roll_back() noexcept;

  const std::string path_;
  const SqliteOptions options_;
  const bool is_in_memory_;

  std::mutex gathering_mutex_;
  Group* gathering_ = nullptr;  // whose first request waits to commit it

  // Held while any Database of this process writes to the file: SQLite lets one
  // write at a time, and lets the others sleep and try again.
  const std::shared_ptr<std::mutex> file_mutex_;
  std::atomic<std::size_t> reads_at_hand_{0};  // since the last commit
  std::mutex writer_mutex_;
  std::unique_ptr<Connection> writer_;
  OwnCommits own_commits_;
  std::atomic<std::uint64_t> commits_{0};

  std::mutex readers_mutex_;
  std::condition_variable reader_free_;
  std::vector<std::unique_ptr<Connection>> readers_;  // those that nobody uses now
  std::size_t readers_open_ = 0;                      // in use or not
};

// Gives the space of what was deleted back to the file system, outside of any
// transaction. Files that were not made for it, as LangGraph's, are written anew.
void vacuum(Connection& connection);

}  // namespace clew::sqlite
