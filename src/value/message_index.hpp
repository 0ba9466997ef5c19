// Finds messages of a long list by id without looking through it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <clew/value.hpp>

namespace clew::internal {

// The ids of the list of messages that a thread of execution merged into last.
// A conversation is a list that grows by merges into its newest version, so one
// is enough; where merges go from list to list, nothing but a reference is kept.
// The list must hold whole messages with ids only.
class MessageIndex {
 public:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  // Whether `list` is the one that was merged into last.
  bool covers(const Value& list) const { return same(list_, list); }

  // Where the last message with this id is in the list, or kNowhere.
  std::size_t find(std::string_view id);

  // The list is now `list`. If it `grew`, all that it held is where it was, or
  // has been replaced by a message with the same id.
  void follow(const Value& list, bool grew);

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t place = 0;  // position + 1; 0 if empty
  };

  void build();
  void add(std::size_t position);
  Slot& slot_of(std::string_view id, std::uint32_t hash);

  Value list_;
  std::size_t indexed_ = 0;  // messages that are in `slots_`
  std::vector<Slot> slots_;  // a power of two, at least twice the messages
};

}  // namespace clew::internal
