#include "value/key_index.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <span>
#include <vector>

namespace clew::detail {
namespace {

constexpr unsigned kHashBits = 60;  // twelve levels of five bits

std::uintptr_t position_entry(std::size_t position) { return position << 1 | 1; }
std::size_t position_of(std::uintptr_t entry) { return entry >> 1; }

std::uint32_t slot_bit(std::uint64_t hash, unsigned shift) {
  return std::uint32_t{1} << ((hash >> shift) & (kWidth - 1));
}

std::size_t entry_position(std::uint64_t bitmap, std::uint32_t bit) {
  return static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(bitmap) & (bit - 1)));
}

Ref<KeyIndex> make_index(std::uint64_t bitmap, std::size_t count) {
  KeyIndex* index = allocate<KeyIndex>(kKeyIndex, count * sizeof(std::uintptr_t));
  index->number = bitmap;
  index->count = static_cast<std::uint16_t>(count);
  return Ref<KeyIndex>::adopt(index);
}

void share_child(std::uintptr_t entry) {
  if (is_child(entry)) retain(child_of(entry));
}

std::string_view key_at(const Vector& keys, std::size_t position) {
  return ValueAccess::text_of(keys[position]);
}

class Adder {
 public:
  Adder(std::size_t position, const Vector& keys)
      : position_(position), hash_(hash_key(key_at(keys, position))), keys_(keys) {}

  Ref<const KeyIndex> add(const KeyIndex* index, unsigned shift) {
    if (!index) return single(shift);
    if (shift >= kHashBits) return appended(index);
    const std::uint32_t bit = slot_bit(hash_, shift);
    const std::size_t place = entry_position(index->number, bit);
    if ((index->number & bit) == 0) return inserted(index, bit, place);
    return replaced(index, place, deeper(index->entries()[place], shift + kWidthBits));
  }

 private:
  Ref<const KeyIndex> single(unsigned shift) {
    Ref<KeyIndex> result = make_index(shift >= kHashBits ? 0 : slot_bit(hash_, shift), 1);
    result->entries()[0] = position_entry(position_);
    return freeze(std::move(result));
  }

  Ref<const KeyIndex> appended(const KeyIndex* index) {
    Ref<KeyIndex> result = make_index(0, index->count + 1U);
    std::copy_n(index->entries(), index->count, result->entries());
    result->entries()[index->count] = position_entry(position_);
    return freeze(std::move(result));
  }

  Ref<const KeyIndex> inserted(const KeyIndex* index, std::uint32_t bit, std::size_t place) {
    Ref<KeyIndex> result = make_index(index->number | bit, index->count + 1U);
    const std::uintptr_t* from = index->entries();
    std::uintptr_t* to = result->entries();
    std::copy_n(from, place, to);
    to[place] = position_entry(position_);
    std::copy_n(from + place, index->count - place, to + place + 1);
    std::for_each_n(from, index->count, share_child);
    return freeze(std::move(result));
  }

  Ref<const KeyIndex> replaced(const KeyIndex* index, std::size_t place,
                               Ref<const KeyIndex> child) {
    Ref<KeyIndex> result = make_index(index->number, index->count);
    for (std::size_t i = 0; i < index->count; ++i) {
      if (i == place) continue;
      share_child(index->entries()[i]);
      result->entries()[i] = index->entries()[i];
    }
    result->entries()[place] = reinterpret_cast<std::uintptr_t>(std::move(child).take());
    return freeze(std::move(result));
  }

  // What takes the place of an occupied entry: its child with our key added, or
  // a new level that tells the two keys apart.
  Ref<const KeyIndex> deeper(std::uintptr_t entry, unsigned shift) {
    if (is_child(entry)) return add(child_of(entry), shift);
    Adder other(position_of(entry), keys_);
    return add(other.single(shift).get(), shift);
  }

  static Ref<const KeyIndex> freeze(Ref<KeyIndex> index) {
    return Ref<const KeyIndex>::adopt(std::move(index).take());
  }

  std::size_t position_;
  std::uint64_t hash_;
  const Vector& keys_;
};

// Builds the index of many keys at once: what adding them one by one results
// in, without the versions in between.
class BulkIndex {
 public:
  explicit BulkIndex(const Vector& keys) {
    entries_.reserve(keys.size);
    for (std::size_t i = 0; i < keys.size; ++i) entries_.push_back({hash_key(key_at(keys, i)), i});
  }

  Ref<const KeyIndex> build() {
    return entries_.empty() ? Ref<const KeyIndex>() : build(entries_, 0);
  }

 private:
  struct Entry {
    std::uint64_t hash;
    std::size_t position;
  };

  Ref<const KeyIndex> build(std::span<Entry> entries, unsigned shift) {
    std::vector<std::span<Entry>> slots;
    const std::uint64_t bitmap = shift < kHashBits ? split(entries, shift, slots) : 0;
    Ref<KeyIndex> index = make_index(bitmap, bitmap != 0 ? slots.size() : entries.size());
    for (std::size_t i = 0; i < index->count; ++i) {
      const bool is_leaf = bitmap == 0 || slots[i].size() == 1;
      index->entries()[i] =
          is_leaf ? position_entry(bitmap == 0 ? entries[i].position : slots[i][0].position)
                  : reinterpret_cast<std::uintptr_t>(build(slots[i], shift + kWidthBits).take());
    }
    return Ref<const KeyIndex>::adopt(std::move(index).take());
  }

  // Groups entries by their slot at this level; returns which slots are taken.
  static std::uint64_t split(std::span<Entry> entries, unsigned shift,
                             std::vector<std::span<Entry>>& slots) {
    const auto slot = [shift](const Entry& entry) { return (entry.hash >> shift) & (kWidth - 1); };
    std::sort(entries.begin(), entries.end(),
              [&](const Entry& a, const Entry& b) { return slot(a) < slot(b); });
    std::uint64_t bitmap = 0;
    for (std::size_t first = 0, last = 0; first < entries.size(); first = last) {
      while (last < entries.size() && slot(entries[last]) == slot(entries[first])) ++last;
      bitmap |= slot_bit(entries[first].hash, shift);
      slots.push_back(entries.subspan(first, last - first));
    }
    return bitmap;
  }

  std::vector<Entry> entries_;
};

}  // namespace

std::uint64_t hash_key(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

std::size_t find_key(const KeyIndex* index, std::string_view key, const Vector& keys) {
  const std::uint64_t hash = hash_key(key);
  const auto matches = [&](std::uintptr_t entry) {
    return key_at(keys, position_of(entry)) == key;
  };
  for (unsigned shift = 0; index && shift < kHashBits; shift += kWidthBits) {
    const std::uint32_t bit = slot_bit(hash, shift);
    if ((index->number & bit) == 0) return kNotFound;
    const std::uintptr_t entry = index->entries()[entry_position(index->number, bit)];
    if (!is_child(entry)) return matches(entry) ? position_of(entry) : kNotFound;
    index = child_of(entry);
  }
  if (!index) return kNotFound;
  const std::uintptr_t* end = index->entries() + index->count;
  const std::uintptr_t* found = std::find_if(index->entries(), end, matches);
  return found == end ? kNotFound : position_of(*found);
}

Ref<const KeyIndex> index_keys(const Vector& keys) { return BulkIndex(keys).build(); }

Ref<const KeyIndex> add_key(const KeyIndex* index, std::size_t position, const Vector& keys) {
  return Adder(position, keys).add(index, 0);
}

}  // namespace clew::detail
