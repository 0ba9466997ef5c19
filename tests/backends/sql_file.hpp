// A SQLite file that is changed behind Clew's back.
#pragma once

#include <sqlite3.h>

#include <string>

#include <gtest/gtest.h>

namespace clew {

inline void execute_sql(const std::string& path, const std::string& sql,
                        sqlite3_callback callback = nullptr, void* to = nullptr) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), callback, to, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

}  // namespace clew
