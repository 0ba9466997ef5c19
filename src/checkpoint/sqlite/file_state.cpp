#include "checkpoint/sqlite/file_state.hpp"

#include <atomic>
#include <cstddef>

namespace clew::sqlite {
namespace {

// What is read after this is not older.
FileState load(std::uint32_t* header) {
  FileState state;
  for (std::size_t i = 0; i < state.size(); ++i) {
    state[i] = std::atomic_ref(header[i]).load(std::memory_order_acquire);
  }
  return state;
}

// What the header begins with, unless nobody has made it yet.
constexpr std::uint32_t kVersion = 3'007'000;

}  // namespace

// There are two copies. Whoever commits writes the second one first: if they are
// equal, read in the other order, neither was being written.
std::optional<FileState> FileWatch::state() const {
  if (!header_) return std::nullopt;
  const FileState first = load(header_);
  const FileState second = load(header_ + first.size());
  if (first != second || first[0] != kVersion) return std::nullopt;
  return first;
}

}  // namespace clew::sqlite
