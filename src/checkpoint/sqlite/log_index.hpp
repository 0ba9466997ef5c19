// The index of a file's log, which all that use the file share in memory: what SQLite's
// description of its WAL-index format says of the numbers that it begins with.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace clew::sqlite {

// How much of the index SQLite maps at a time.
inline constexpr int kIndexRegion = 32 << 10;

// The first number, unless nobody has made the index yet.
inline constexpr std::uint32_t kIndexVersion = 3'007'000;

// Where others are.
inline constexpr std::size_t kCommits = 2;        // counted up by every commit
inline constexpr std::size_t kFrames = 4;         // how many frames the log has
inline constexpr std::size_t kFramesToCopy = 32;  // up to which one the last copy was to go

// What is read after this is not older.
inline std::uint32_t load_number(std::uint32_t* index, std::size_t place) {
  return std::atomic_ref(index[place]).load(std::memory_order_acquire);
}

}  // namespace clew::sqlite
