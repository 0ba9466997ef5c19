// Opening a file that another program is using at the moment.
#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <clew/errors.hpp>
#include <clew/sqlite_saver.hpp>

#include "temporary_folder.hpp"

namespace clew {
namespace {

using namespace std::chrono_literals;

// A new file that is not in WAL mode yet, in the middle of a transaction.
class LockedFile : public testing::Test {
 protected:
  LockedFile() {
    sqlite3_open(path_.c_str(), &other_);
    // Whoever tries to open the file reads it for a moment, during which nobody can commit.
    sqlite3_busy_timeout(other_, 10'000);
    execute("CREATE TABLE other (x); BEGIN IMMEDIATE; INSERT INTO other VALUES (1)");
  }
  ~LockedFile() override { sqlite3_close(other_); }

  void execute(const char* sql) {
    ASSERT_EQ(sqlite3_exec(other_, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "threads.db").string();
  sqlite3* other_ = nullptr;
};

TEST(SqliteOpen, AnEmptyPathIsRefused) { EXPECT_THROW(SqliteSaver::open(""), StorageError); }

TEST(SqliteOpen, TheErrorNamesThePath) {
  const std::string path = "/no/such/folder/threads.db";
  try {
    SqliteSaver::open(path);
    FAIL() << "it was opened";
  } catch (const StorageError& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

TEST_F(LockedFile, IsWaitedFor) {
  std::jthread other([this] {
    std::this_thread::sleep_for(50ms);
    execute("COMMIT");
  });
  EXPECT_EQ(SqliteSaver::open(path_)->layout(), SqliteLayout::native);
}

TEST_F(LockedFile, IsRefusedAfterTheBusyTimeout) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    SqliteSaver::open(path_, {.busy_timeout = 30ms});
    FAIL() << "it was opened";
  } catch (const StorageError& error) {
    EXPECT_NE(std::string(error.what()).find("database is locked (code 5)"), std::string::npos)
        << error.what();
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
}

}  // namespace
}  // namespace clew
