// Writes a commit to SQLite's write-ahead log in one call. SQLite itself makes
// two per page, which is most of what a small commit costs without a sync.
//
// And a log that is synced after every commit grows ahead of what is written to it, by
// zeros: a sync that finds the file as long as before takes less than half the time of
// one that must also store how long it has become.
//
// Where the log is copied to the database, which SQLite does page by page too, it is read and
// written many pages at a time.
//
// Bytes only reach the system later than SQLite hands them over, never in another order: all of
// a commit are there before SQLite hears that its last write has succeeded, and all of a copy
// before it begins to sync the database. So what readers see, what a crash leaves and what an
// error undoes is the same.
#pragma once

namespace clew::sqlite {

// The name of the VFS to open files with. It stands in front of the VFS that is the
// default now. May be called from any thread.
const char* log_vfs();

}  // namespace clew::sqlite
