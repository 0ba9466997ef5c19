#include "value/message_index.hpp"

#include <bit>
#include <functional>

#include "value/message_ids.hpp"

namespace clew::internal {

namespace {

constexpr std::size_t kFewestSlots = 256;

std::uint32_t hash_id(std::string_view id) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(id));
}

}  // namespace

std::size_t MessageIndex::find(std::string_view id) {
  if (indexed_ < list_.size()) build();
  const Slot& slot = slot_of(id, hash_id(id));
  return slot.place == 0 ? kNowhere : slot.place - 1;
}

void MessageIndex::follow(const Value& list, bool grew) {
  if (!grew) {
    slots_.clear();
    indexed_ = 0;
  }
  list_ = list;
}

void MessageIndex::build() {
  if (slots_.size() < 2 * list_.size()) {
    slots_.assign(std::max(kFewestSlots, std::bit_ceil(4 * list_.size())), Slot());
    indexed_ = 0;
  }
  while (indexed_ < list_.size()) add(indexed_++);
}

void MessageIndex::add(std::size_t position) {
  const std::string_view id = id_of(list_[position]).as_string();
  const std::uint32_t hash = hash_id(id);
  slot_of(id, hash) = {hash, static_cast<std::uint32_t>(position + 1)};
}

// The slot that holds the id, or the empty one where it belongs.
MessageIndex::Slot& MessageIndex::slot_of(std::string_view id, std::uint32_t hash) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.place == 0) return slot;
    if (slot.hash == hash && id_of(list_[slot.place - 1]).as_string() == id) return slot;
  }
}

}  // namespace clew::internal
