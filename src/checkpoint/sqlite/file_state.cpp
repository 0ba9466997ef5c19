#include "checkpoint/sqlite/file_state.hpp"

#include <cstddef>

#include "checkpoint/sqlite/log_index.hpp"

namespace clew::sqlite {
namespace {

FileState load(std::uint32_t* header) {
  FileState state;
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = load_number(header, i);
  return state;
}

}  // namespace

// There are two copies. Whoever commits writes the second one first: if they are
// equal, read in the other order, neither was being written.
std::optional<FileState> FileWatch::state() const {
  if (!header_) return std::nullopt;
  const FileState first = load(header_);
  const FileState second = load(header_ + first.size());
  if (first != second || first[0] != kIndexVersion) return std::nullopt;
  return first;
}

}  // namespace clew::sqlite
