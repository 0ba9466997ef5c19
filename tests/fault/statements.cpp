#include "statements.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

namespace clew::fault {
namespace {

std::atomic<std::uint64_t> passed{0};
std::atomic<std::uint64_t> fatal{0};

void pass_place() {
  if (++passed != fatal) return;
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();  // the signal may take a moment
}

bool ends_transaction(sqlite3_stmt* statement) {
  return std::string_view(sqlite3_sql(statement)) == "COMMIT";
}

// A reader's transaction ends with COMMIT as well.
int on_event(unsigned event, void*, void* of, void*) {
  thread_local bool is_committing = false;
  auto* statement = static_cast<sqlite3_stmt*>(of);
  if (event == SQLITE_TRACE_PROFILE) {
    if (ends_transaction(statement) && is_committing) pass_place();
    return 0;
  }
  const bool writes = sqlite3_txn_state(sqlite3_db_handle(statement), nullptr) == SQLITE_TXN_WRITE;
  is_committing = writes && ends_transaction(statement);
  if (is_committing || !sqlite3_stmt_readonly(statement)) pass_place();
  return 0;
}

int watch(sqlite3* database, char**, const void*) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE, on_event, nullptr);
}

}  // namespace

void watch_statements() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch)); }

void die_at_place(std::uint64_t n) {
  passed = 0;
  fatal = n;
}

}  // namespace clew::fault
