// What verify() says of files, and what repair() makes of them.
#include <gtest/gtest.h>

#include <clew/sqlite_saver.hpp>

#include "checkpointer_pieces.hpp"
#include "sql_file.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

class DamagedFile : public testing::Test {
 protected:
  std::shared_ptr<SqliteSaver> open() {
    SqliteOptions options;
    options.synchronous = SqliteSynchronous::off;
    return SqliteSaver::open(path_, std::move(options));
  }

  void execute(const std::string& sql) { execute_sql(path_, sql); }

  // "kind channel version what", a line for each.
  static std::string render(const std::vector<StoredProblem>& problems) {
    std::string lines;
    for (const StoredProblem& problem : problems) {
      lines += std::string(Value(problem.kind).as_string()) + " " + problem.channel + ": " +
               problem.what + "\n";
    }
    return lines;
  }

  std::string verified() { return render(open()->verify("t").problems); }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "threads.db").string();
};

// A thread whose list grows by a text with every step, which is written down too.
void put_notes(Checkpointer& saver, int count) {
  Value notes = list();
  for (int n = 1; n <= count; ++n) {
    notes = notes.append("note " + std::to_string(n) + std::string(100, '.'));
    put(saver, make_put("t", n, n - 1, {{"notes", notes}}));
    const Value next = list({"note " + std::to_string(n + 1) + std::string(100, '.')});
    put_writes(saver, "t", n, {{"notes", next}}, "task");
  }
}

TEST_F(DamagedFile, CountsAreRightAfterWhatWasReplaced) {
  {
    const auto saver = open();
    put_notes(*saver, 5);
    put_writes(*saver, "t", 5, {{"__error__", "short"}}, "other");
    put_writes(*saver, "t", 5, {{"__error__", std::string(500, 'x')}}, "other");
    put(*saver, make_put("t", 3, 2, {{"notes", list({std::string(900, 'y')})}}));
  }
  EXPECT_EQ(verified(), "");
}

TEST_F(DamagedFile, AThreadThatIsNotListedIsTold) {
  EXPECT_EQ(verified(), "");  // there is none
  put_notes(*open(), 2);
  execute("DELETE FROM threads");
  EXPECT_EQ(verified(), "wrong_counts : is not in the table of threads\n");
  EXPECT_EQ(render(open()->repair("t").left), "");
  EXPECT_EQ(verified(), "");
}

TEST_F(DamagedFile, AVersionThatLeadsBackToItselfIsTold) {
  put_notes(*open(), 8);
  execute(
      "UPDATE checkpoint_blobs SET base_version = (SELECT max(version) FROM checkpoint_blobs)"
      " WHERE base_version IS NOT NULL");
  const std::string problems = verified();
  EXPECT_NE(problems.find("broken_chain notes: is a difference from version"), std::string::npos);
  const RepairReport repaired = open()->repair("t");
  EXPECT_EQ(render(repaired.left), "");
  EXPECT_GT(repaired.values, 0U);
  EXPECT_EQ(verified(), "");
}

TEST_F(DamagedFile, AParentThatWasPrunedIsNoProblem) {
  put_notes(*open(), 3);
  execute("DELETE FROM checkpoints WHERE checkpoint_id = '" + test_id(1) +
          "'; UPDATE checkpoints SET base_checkpoint_id = NULL");
  EXPECT_EQ(open()->verify("t").problems.front().kind, StoredProblem::Kind::wrong_counts);
  execute("UPDATE checkpoints SET parent_checkpoint_id = '" + test_id(2) +
          "x' WHERE checkpoint_id = '" + test_id(3) + "'");
  EXPECT_EQ(open()->verify("t").problems.front().kind, StoredProblem::Kind::missing_parent);
}

TEST_F(DamagedFile, AStopEndsIt) {
  put_notes(*open(), 3);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(open()->verify("t", {.stop = stop.get_token()}).is_complete);
}

TEST_F(DamagedFile, RepairedValuesAreThoseThatWere) {
  put_notes(*open(), 70);
  const std::string before = history(*open(), "t");
  execute(
      "DELETE FROM checkpoint_blobs WHERE CAST(substr(version, 1, 32) AS INTEGER) % 7 = 3;"
      "UPDATE checkpoint_blobs SET blob_data = x'c1'"
      " WHERE CAST(substr(version, 1, 32) AS INTEGER) % 11 = 5");
  EXPECT_NE(verified(), "");
  EXPECT_EQ(render(open()->repair("t").left), "");
  EXPECT_EQ(history(*open(), "t"), before);
}

}  // namespace
}  // namespace clew
