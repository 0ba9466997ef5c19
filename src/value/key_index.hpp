// The hash trie of large objects: finds the position of a key. Persistent like
// the vector of keys it belongs to: adding a key copies one path.
#pragma once

#include "value/vector.hpp"

namespace clew::detail {

// Entries are either a child (KeyIndex*) or, with the low bit set, a position.
// Node::number is the bitmap of occupied slots; below the last level of the
// hash, entries are a plain sequence of positions whose hashes collide.
struct KeyIndex : Container {
  const std::uintptr_t* entries() const { return trailing<const std::uintptr_t>(this); }
  std::uintptr_t* entries() { return trailing<std::uintptr_t>(this); }
};

inline constexpr std::size_t kNotFound = static_cast<std::size_t>(-1);

std::uint64_t hash_key(std::string_view key);

// The position of `key` among `keys`, or kNotFound. A null index is empty.
std::size_t find_key(const KeyIndex* index, std::string_view key, const Vector& keys);

// The index of all of `keys`, which are distinct.
Ref<const KeyIndex> index_keys(const Vector& keys);

// `index` with keys[position] added, which must not be in it yet.
Ref<const KeyIndex> add_key(const KeyIndex* index, std::size_t position, const Vector& keys);

inline bool is_child(std::uintptr_t entry) { return (entry & 1) == 0; }
inline const KeyIndex* child_of(std::uintptr_t entry) {
  return reinterpret_cast<const KeyIndex*>(entry);
}

}  // namespace clew::detail
