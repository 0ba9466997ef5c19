// Writes a commit to SQLite's write-ahead log in one call. SQLite itself makes
// two per page, which is most of what a small commit costs without a sync.
//
// And a log that is synced after every commit grows ahead of what is written to it, by
// zeros: a sync that finds the file as long as before takes less than half the time of
// one that must also store how long it has become.
//
// Only the log is touched, and only when its bytes are handed to the system: all
// of a commit are there before SQLite hears that its last write has succeeded,
// so what readers see, what a crash leaves and what an error undoes is the same.
#pragma once

namespace clew::sqlite {

// The name of the VFS to open files with. It stands in front of the VFS that is the
// default now. May be called from any thread.
const char* log_vfs();

}  // namespace clew::sqlite
