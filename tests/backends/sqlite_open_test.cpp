// Opening a file that another program is using at the moment.
#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <clew/encrypted.hpp>
#include <clew/errors.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpointer_pieces.hpp"
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

class ForeignTransaction : public testing::TestWithParam<SqliteLayout> {};

INSTANTIATE_TEST_SUITE_P(Layouts, ForeignTransaction,
                         testing::Values(SqliteLayout::native, SqliteLayout::langgraph));

TEST_P(ForeignTransaction, KeepsNobodyFromLooking) {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "threads.db").string();
  put_chain(*SqliteSaver::open(path, {.layout = GetParam()}), "t", 2);
  sqlite3* other = nullptr;
  sqlite3_open(path.c_str(), &other);
  EXPECT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto saver = SqliteSaver::open(path, {.busy_timeout = 30ms});
  EXPECT_EQ(saver->list_threads({}).size(), 1U);
  EXPECT_EQ(newest(*saver, "t"), "2 <1 {\"n\":2}");
  EXPECT_THROW(put(*saver, make_put("t", 3, 2)), StorageError);
  sqlite3_close(other);
  put(*saver, make_put("t", 3, 2));
}

// One who encrypts must not add to threads that are not encrypted, nor to those of another key.
class KeysOfAFile : public testing::TestWithParam<SqliteLayout> {
 protected:
  std::shared_ptr<SqliteSaver> open(char key, bool allow_plaintext = false) {
    SqliteOptions options{.layout = GetParam(), .synchronous = SqliteSynchronous::off};
    if (key) {
      EncryptedOptions encrypted;
      encrypted.allow_plaintext = allow_plaintext;
      options.serializer = std::make_shared<EncryptedSerializer>(
          std::make_shared<AesEaxCipher>(std::string(16, key)), encrypted);
    }
    return SqliteSaver::open((folder_.path / "threads.db").string(), options);
  }

  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, KeysOfAFile,
                         testing::Values(SqliteLayout::native, SqliteLayout::langgraph));

// Python's files may hold plain threads as well, whoever opens them with a key.
TEST_P(KeysOfAFile, AreNotAddedToAPlainOneUnlessThatIsAllowed) {
  put_chain(*open(0), "t", 2);
  if (GetParam() == SqliteLayout::native) {
    EXPECT_THROW(open('k'), CryptoError);
  } else {
    EXPECT_THROW(open('k')->get_tuple({"t"}), CryptoError);
  }
  EXPECT_EQ(newest(*open('k', true), "t"), "2 <1 {\"n\":2}");
  put_chain(*open(0), "u", 1);
  EXPECT_EQ(open(0)->list_threads({}).size(), 2U);
}

TEST_P(KeysOfAFile, AreTheOneThatItWasMadeWith) {
  put_chain(*open('k'), "t", 2);
  EXPECT_THROW(open('x'), CryptoError);
  EXPECT_THROW(open('x', true), CryptoError);
  put_chain(*open('k'), "u", 1);
  EXPECT_EQ(open('k')->list_threads({}).size(), 2U);
}

}  // namespace
}  // namespace clew
