#include "checkpoint/sqlite/database.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <unordered_map>

#include <clew/errors.hpp>

namespace clew::sqlite {
namespace {

// More readers than this wait for each other: a read is short, opening is not.
constexpr std::size_t kMostReaders = 16;

// The pages that steps of many threads touch stay in memory, and go from the log
// to the file less often than by default: a page that changes often is written
// there once, and few steps wait for the two syncs that this takes.
constexpr std::size_t kPagesOfWriter = 8 << 20;
constexpr int kMostPagesInLog = 8000;

// There are more readers, and they pass most pages once.
constexpr std::size_t kPagesOfReader = 1 << 20;

bool keeps_in_memory(const std::string& path) { return path == ":memory:"; }

const char* synchronous_pragma(SqliteSynchronous synchronous) {
  switch (synchronous) {
    case SqliteSynchronous::full: return "PRAGMA synchronous = FULL";
    case SqliteSynchronous::normal: return "PRAGMA synchronous = NORMAL";
    case SqliteSynchronous::off: return "PRAGMA synchronous = OFF";
  }
  throw ValueError("an unknown SqliteSynchronous");
}

// Of two that make a new file SQLite refuses one, without waiting as it does
// elsewhere: waiting for each other they would never end.
void use_wal(Connection& connection, std::chrono::milliseconds busy_timeout) {
  constexpr std::string_view kSql = "PRAGMA journal_mode = WAL";
  const auto last_attempt = std::chrono::steady_clock::now() + busy_timeout;
  while (std::chrono::steady_clock::now() < last_attempt) {
    if (connection.try_execute(std::string(kSql))) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  connection.execute(std::string(kSql));
}

// The one for a file, however its path is spelt, as long as somebody has it open.
std::shared_ptr<std::mutex> file_mutex(const std::string& path) {
  static std::mutex mutex;
  static auto* const files = new std::unordered_map<std::string, std::weak_ptr<std::mutex>>();
  if (keeps_in_memory(path)) return std::make_shared<std::mutex>();
  std::error_code ignored;
  const std::string name = std::filesystem::weakly_canonical(path, ignored).string();
  const std::lock_guard lock(mutex);
  std::erase_if(*files, [](const auto& file) { return file.second.expired(); });
  std::weak_ptr<std::mutex>& known = (*files)[name];
  std::shared_ptr<std::mutex> found = known.lock();
  if (!found) known = found = std::make_shared<std::mutex>();
  return found;
}

}  // namespace

Database::Database(std::string path, const SqliteOptions& options)
    : path_(std::move(path)),
      options_(options),
      is_in_memory_(keeps_in_memory(path_)),
      file_mutex_(file_mutex(path_)) {
  writer_ = connect();
}

std::unique_ptr<Connection> Database::connect() const {
  auto connection = std::make_unique<Connection>(path_, options_.busy_timeout);
  // Only a file that has no page yet can still be told to give pages back. Any other is changed by
  // this, for which it is locked.
  if (!writer_ && connection->value("PRAGMA page_count") == "0") {
    connection->execute("PRAGMA auto_vacuum = INCREMENTAL");
  }
  connection->execute(synchronous_pragma(options_.synchronous));
  // Some SQLites mistrust the functions for JSON, which views of the native layout call.
  connection->execute("PRAGMA trusted_schema = ON");
  use_wal(*connection, options_.busy_timeout);
  connection->keep_pages(writer_ ? kPagesOfReader : kPagesOfWriter);
  if (!writer_) connection->copy_log_after(kMostPagesInLog);
  return connection;
}

// Writing -----------------------------------------------------------------------

void Database::write(const Change& change) {
  Request request{&change, false};
  write(request);
}

void Database::write_repeatable(const Change& change) {
  Request request{&change, true};
  write(request);
}

void Database::write(Request& request) {
  Group group;
  const std::shared_future<void> ended = join_or_begin(request, group);
  if (ended.valid()) {
    ended.wait();
  } else {
    commit_gathered(group);
  }
  if (request.error) std::rethrow_exception(request.error);
}

// When the group that gathers will have ended, which the request is part of then. Nothing if
// there was none and `begun` is it now.
std::shared_future<void> Database::join_or_begin(Request& request, Group& begun) {
  const std::lock_guard lock(gathering_mutex_);
  if (gathering_) return gathering_->join(request);
  begun.requests.push_back(&request);
  gathering_ = &begun;
  return {};
}

std::shared_future<void> Database::Group::join(Request& request) {
  if (!end) ended = end.emplace().get_future().share();
  requests.push_back(&request);
  return ended;
}

// Those that come until it is the group's turn to write are part of it.
void Database::commit_gathered(Group& group) {
  {
    const std::scoped_lock turn(writer_mutex_, *file_mutex_);
    std::unique_lock lock(gathering_mutex_);
    gathering_ = nullptr;
    lock.unlock();
    commit(group.requests);
  }
  // The next group can be written while these wake up.
  if (group.end) group.end->set_value();
}

void Database::commit(std::span<Request* const> group) {
  const bool are_repeatable =
      std::ranges::all_of(group, [](const Request* request) { return request->is_repeatable; });
  try {
    writer_->run("BEGIN IMMEDIATE");
    own_commits_.begin(*writer_);
    if (are_repeatable) {
      if (!apply_together(group)) return commit_one_by_one(group);
    } else {
      for (Request* request : group) apply(*request, group.size() == 1);
    }
    writer_->run("COMMIT");
    own_commits_.commit(*writer_);
    reads_at_hand_.store(0, std::memory_order_relaxed);
    commits_.fetch_add(1, std::memory_order_relaxed);
  } catch (...) {
    // What undid the transaction undid it for all.
    for (Request* request : group) {
      if (!request->error) request->error = std::current_exception();
    }
    roll_back();
  }
}

// Without what it takes to undo one of them: that costs SQLite a copy of every page that
// each of them touches. False if one failed.
bool Database::apply_together(std::span<Request* const> group) {
  for (Request* request : group) {
    try {
      (*request->change)(*writer_);
    } catch (...) {
      if (group.size() == 1 || !writer_->in_transaction()) throw;
      return false;
    }
  }
  return true;
}

void Database::commit_one_by_one(std::span<Request* const> group) {
  roll_back();
  for (Request* const& request : group) commit({&request, 1});
}

// Those who wait for their change must hear of it whatever happens here. If this
// fails as well, the next transaction finds the old one open and comes here again.
void Database::roll_back() noexcept {
  own_commits_.forget();
  try {
    if (writer_->in_transaction()) writer_->execute("ROLLBACK");
  } catch (const StorageError&) {
  }
}

// One change of several can be undone without the others.
void Database::apply(Request& request, bool is_alone) {
  if (!is_alone) writer_->run("SAVEPOINT one");
  try {
    (*request.change)(*writer_);
    if (!request.is_repeatable) own_commits_.forget();
  } catch (...) {
    if (is_alone || !writer_->in_transaction()) throw;
    request.error = std::current_exception();
    writer_->run("ROLLBACK TO one");
    own_commits_.forget();
  }
  if (!is_alone) writer_->run("RELEASE one");
}

void Database::maintain(const Change& work) {
  const std::scoped_lock lock(writer_mutex_, *file_mutex_);
  work(*writer_);
}

void Database::keep_pages(std::size_t bytes) {
  const std::lock_guard lock(writer_mutex_);
  writer_->keep_pages(bytes);
}

void Database::watch() {
  const std::unique_lock of_writer(writer_mutex_, std::try_to_lock);
  const std::unique_lock of_file(*file_mutex_, std::try_to_lock);
  if (!of_writer || !of_file || !writer_->try_execute("BEGIN IMMEDIATE")) return;
  own_commits_.begin(*writer_);
  writer_->run("COMMIT");
  own_commits_.commit(*writer_);
}

void vacuum(Connection& connection) {
  const bool is_incremental = connection.value("PRAGMA auto_vacuum") == "2";
  connection.execute(is_incremental ? "PRAGMA incremental_vacuum"
                                    : "PRAGMA auto_vacuum = INCREMENTAL; VACUUM");
  connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

// Reading -----------------------------------------------------------------------

Database::Reader::Reader(Database& database) : owner(database) {
  if (owner.is_in_memory_) {
    lock = std::unique_lock(owner.writer_mutex_);
    connection = owner.writer_.get();
    return;
  }
  borrowed = owner.idle_reader();
  if (!borrowed) borrowed = owner.new_reader();
  connection = borrowed.get();
}

Database::Reader::~Reader() {
  if (!borrowed) return;
  {
    const std::lock_guard guard(owner.readers_mutex_);
    owner.readers_.push_back(std::move(borrowed));
  }
  owner.reader_free_.notify_one();
}

// Null if there is none and another may be opened.
std::unique_ptr<Connection> Database::idle_reader() {
  std::unique_lock lock(readers_mutex_);
  reader_free_.wait(lock, [this] { return !readers_.empty() || readers_open_ < kMostReaders; });
  if (readers_.empty()) {
    ++readers_open_;
    return nullptr;
  }
  std::unique_ptr<Connection> reader = std::move(readers_.back());
  readers_.pop_back();
  return reader;
}

std::unique_ptr<Connection> Database::new_reader() {
  try {
    return connect();
  } catch (...) {
    {
      const std::lock_guard lock(readers_mutex_);
      --readers_open_;
    }
    reader_free_.notify_one();
    throw;
  }
}

}  // namespace clew::sqlite
