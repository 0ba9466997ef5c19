// What is committed is in the log, whichever way SQLite writes it.
#include "checkpoint/sqlite/log_vfs.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "checkpoint/sqlite/connection.hpp"
#include "checkpoint/sqlite/vfs_file.hpp"
#include "temporary_folder.hpp"

namespace clew::sqlite {
namespace {

using namespace std::chrono_literals;

class Log : public testing::Test {
 protected:
  Log() {
    connection_.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    connection_.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB)");
  }

  void insert(int count) {
    connection_.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO rows (data) SELECT zeroblob(1000) FROM n",
        std::int64_t{count});
  }

  // What a process that opens the files as they are now finds in them.
  std::string found() {
    const std::filesystem::path copy = folder_.path / "copy.db";
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file(path_ + suffix, copy.string() + suffix,
                                 std::filesystem::copy_options::overwrite_existing);
    }
    std::filesystem::remove(copy.string() + "-shm");
    Connection other(copy.string(), 1s);
    return *other.value(
        "SELECT count(*) || ' rows, ' || total(length(data)) || ' bytes, '"
        " || (SELECT * FROM pragma_integrity_check) FROM rows");
  }

  std::uintmax_t size() const { return std::filesystem::file_size(path_ + "-wal"); }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "rows.db").string();
  Connection connection_{path_, 10ms};
};

// A file in memory that notes where it is written to.
struct NotingFile {
  sqlite3_file base{};
  std::string written = {};
  std::vector<std::uint8_t> content = {};
  int writes_until_failure = -1;

  NotingFile() {
    static const sqlite3_io_methods methods = [] {
      sqlite3_io_methods made{};
      made.iVersion = 1;
      made.xWrite = write;
      return made;
    }();
    base.pMethods = &methods;
  }

  static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
    auto& self = file_of<NotingFile>(file);
    if (self.writes_until_failure-- == 0) return SQLITE_IOERR_WRITE;
    self.written += std::to_string(offset) + "+" + std::to_string(size) + " ";
    const auto begin = static_cast<std::size_t>(offset);
    self.content.resize(std::max(self.content.size(), begin + static_cast<std::size_t>(size)));
    std::memcpy(self.content.data() + begin, bytes, static_cast<std::size_t>(size));
    return SQLITE_OK;
  }
};

TEST(GatheredWrites, ReachOverNoMultipleOfTheirMost) {
  NotingFile file;
  GatheredWrites gathered;
  std::vector<std::uint8_t> expected(32);
  const auto add = [&](std::size_t size) {
    const std::size_t offset = expected.size();
    for (std::size_t i = 0; i < size; ++i) {
      expected.push_back(static_cast<std::uint8_t>(expected.size() * 7));
    }
    return gathered.add(&file.base, std::span(expected).subspan(offset),
                        static_cast<sqlite3_int64>(offset));
  };
  for (int frame = 0; frame < 20; ++frame) {
    for (const std::size_t size : {24, 4096}) EXPECT_EQ(add(size), SQLITE_OK);
  }
  EXPECT_EQ(file.written, "32+65504 ");
  EXPECT_EQ(add(150'000), SQLITE_OK);
  EXPECT_EQ(file.written, "32+65504 65536+65536 131072+65536 ");
  EXPECT_EQ(gathered.flush(&file.base), SQLITE_OK);
  EXPECT_EQ(file.written, "32+65504 65536+65536 131072+65536 196608+35824 ");
  EXPECT_EQ(file.content, expected);
}

TEST(GatheredWrites, WhatDoesNotFollowIsWrittenFirst) {
  NotingFile file;
  GatheredWrites gathered;
  const std::vector<std::uint8_t> page(4096);
  for (const sqlite3_int64 offset : {8192, 12288, 4096, 61440}) {
    EXPECT_EQ(gathered.add(&file.base, page, offset), SQLITE_OK);
  }
  EXPECT_EQ(file.written, "8192+8192 4096+4096 61440+4096 ");
}

TEST(GatheredWrites, AWriteThatFailsIsToldAndLeavesNothing) {
  NotingFile file;
  file.writes_until_failure = 1;
  GatheredWrites gathered;
  const std::vector<std::uint8_t> large(200'000);
  EXPECT_EQ(gathered.add(&file.base, large, 0), SQLITE_IOERR_WRITE);
  EXPECT_EQ(gathered.flush(&file.base), SQLITE_OK);
  EXPECT_EQ(file.written, "0+65536 ");
}

TEST_F(Log, HoldsEachCommitWhenItIsDone) {
  insert(1);
  EXPECT_EQ(found(), "1 rows, 1000.0 bytes, ok");
  insert(200);  // more than goes to the log in one call
  EXPECT_EQ(found(), "201 rows, 201000.0 bytes, ok");
}

TEST_F(Log, HoldsPagesThatWereWrittenAgain) {
  connection_.execute("PRAGMA cache_size = 5; BEGIN");
  insert(300);
  connection_.execute("UPDATE rows SET data = zeroblob(2000) WHERE id % 50 = 0");
  connection_.execute("UPDATE rows SET data = zeroblob(500) WHERE id % 60 = 0; COMMIT");
  EXPECT_EQ(found(), "300 rows, 302500.0 bytes, ok");
}

TEST_F(Log, GoesOnAfterWhatWasUndone) {
  insert(10);
  connection_.execute("PRAGMA cache_size = 5; BEGIN");
  insert(300);
  EXPECT_EQ(found(), "10 rows, 10000.0 bytes, ok");
  connection_.execute("ROLLBACK");
  insert(1);
  EXPECT_EQ(found(), "11 rows, 11000.0 bytes, ok");
  connection_.execute("PRAGMA wal_checkpoint(RESTART)");
  insert(1);
  EXPECT_EQ(found(), "12 rows, 12000.0 bytes, ok");
}

TEST_F(Log, GrowsAheadIfEachCommitIsSynced) {
  insert(100);
  insert(100);
  const std::uintmax_t written = size();
  connection_.execute("PRAGMA synchronous = FULL");
  insert(1);
  insert(1);
  const std::uintmax_t ahead = size();
  EXPECT_GT(ahead, written + 100'000);
  for (int i = 0; i < 5; ++i) insert(1);
  EXPECT_EQ(size(), ahead);
  EXPECT_EQ(found(), "207 rows, 207000.0 bytes, ok");
  connection_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  insert(1);
  EXPECT_LT(size(), 64'000U);
  EXPECT_EQ(found(), "208 rows, 208000.0 bytes, ok");
}

TEST_F(Log, GrowsAheadOnlyBehindWhatOthersWrote) {
  Connection other(path_, 1s);
  for (Connection* each : {&connection_, &other}) each->execute("PRAGMA synchronous = FULL");
  for (int i = 0; i < 40; ++i) {
    insert(20);
    other.run("INSERT INTO rows (data) VALUES (zeroblob(50000))");
    if (i % 10 == 9) other.execute("PRAGMA wal_checkpoint(PASSIVE)");
  }
  EXPECT_EQ(found(), "840 rows, 2800000.0 bytes, ok");
}

TEST_F(Log, IsCopiedAsItIsEachTime) {
  insert(2000);
  for (std::int64_t round = 1; round <= 4; ++round) {
    // Some pages follow each other in the log and in the file, others do not.
    connection_.run("UPDATE rows SET data = randomblob(1000 + ?)", round);
    connection_.run("UPDATE rows SET data = zeroblob(?) WHERE id % 7 = 0", round);
    connection_.execute("PRAGMA wal_checkpoint(FULL)");
    const auto expected = connection_.value("SELECT sum(length(data)) FROM rows");
    Connection other(path_, 1s);  // reads the file, as all of the log is copied
    EXPECT_EQ(other.value("SELECT sum(length(data)) FROM rows"), expected);
    EXPECT_EQ(other.value("PRAGMA integrity_check"), "ok");
  }
}

TEST_F(Log, IsCopiedAsItIsWhereFewPagesChangeOften) {
  const std::vector<std::string> tables = {"a", "b", "c"};
  for (const std::string& name : tables) {
    connection_.execute("CREATE TABLE " + name + " (n INTEGER); INSERT INTO " + name +
                        " VALUES (0)");
  }
  for (int n = 1; n <= 300; ++n) {
    std::string change = "BEGIN;";
    for (const std::string& name : tables) change += "UPDATE " + name + " SET n = n + 1;";
    connection_.execute(change + "COMMIT");
    if (n % 7 != 0 && n % 60 != 0) continue;
    connection_.execute("PRAGMA wal_checkpoint(FULL)");
    Connection other(path_, 1s);
    EXPECT_EQ(other.value("SELECT a.n || b.n || c.n FROM a, b, c"),
              std::to_string(n) + std::to_string(n) + std::to_string(n));
  }
}

TEST_F(Log, IsCopiedWhileOthersReadAndWrite) {
  Connection writer(path_, 1ms);
  Connection reader(path_, 1ms);
  for (int round = 0; round < 6; ++round) {
    insert(100);
    reader.execute("BEGIN");
    const auto seen = reader.value("SELECT count(*) FROM rows");
    insert(100);
    if (round % 2 == 0) writer.execute("BEGIN IMMEDIATE; DELETE FROM rows WHERE id % 3 = 0");
    // Not all can be copied.
    connection_.try_execute("PRAGMA wal_checkpoint(FULL)");
    if (round % 2 == 0) writer.execute("COMMIT");
    EXPECT_EQ(reader.value("SELECT count(*) FROM rows"), seen);
    reader.execute("COMMIT");
    EXPECT_EQ(reader.value("PRAGMA integrity_check"), "ok");
  }
}

TEST_F(Log, IsCopiedWhenItIsLong) {
  connection_.copy_log_after(50);
  for (int i = 0; i < 200; ++i) insert(10);
  EXPECT_LT(size(), 500'000U);
  EXPECT_EQ(found(), "2000 rows, 2000000.0 bytes, ok");
}

TEST_F(Log, PassesOnWhatOthersCommitted) {
  Connection other(path_, 1s);
  for (int i = 0; i < 3; ++i) {
    insert(20);
    other.run("INSERT INTO rows (data) VALUES (zeroblob(1000))");
  }
  EXPECT_EQ(found(), "63 rows, 63000.0 bytes, ok");
}

}  // namespace
}  // namespace clew::sqlite
