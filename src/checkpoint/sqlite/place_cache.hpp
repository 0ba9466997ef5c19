// What is known of the checkpoint that each thread and namespace was last seen at, so that it
// need not be read from the file. What nobody runs on is let go.
//
// All methods may be called from any thread.
#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <clew/checkpointer.hpp>

namespace clew::sqlite {

template <class T>
class PlaceCache {
 public:
  // What was used last stays, as long as it takes no more than `max_bytes`; one entry always does.
  explicit PlaceCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Hands over what is known of the checkpoint; whoever takes it remembers what
  // it has become.
  std::optional<T> take(const CheckpointKey& key) {
    const std::lock_guard lock(mutex_);
    const auto entry = find(key);
    if (entry == entries_.end()) return std::nullopt;
    T content = std::move(entry->content);
    erase(entry);
    return content;
  }

  // What `look` makes of it. Others wait meanwhile.
  template <class Look>
  auto look(const CheckpointKey& key, const Look& look)
      -> std::optional<std::invoke_result_t<Look, const T&>> {
    const std::lock_guard lock(mutex_);
    const auto entry = find(key);
    if (entry == entries_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, entry);
    return look(std::as_const(entry->content));
  }

  // Replaces what was known of the place, a thread and namespace. `bytes` is about what `content`
  // takes.
  void remember(const CheckpointKey& place, std::string_view checkpoint_id, T content,
                std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Entry& entry = first_entry(place);
    entry.checkpoint_id = checkpoint_id;
    entry.content = std::move(content);
    bytes_ += kOverhead + bytes - std::exchange(entry.bytes, kOverhead + bytes);
    while (bytes_ > max_bytes_ && entries_.size() > 1) erase(std::prev(entries_.end()));
  }

  // Whichever checkpoint is known there.
  void forget(const CheckpointKey& place) {
    const std::lock_guard lock(mutex_);
    const auto found = by_place_.find(name_of(place));
    if (found != by_place_.end()) erase(found->second);
  }

  void forget_thread(std::string_view thread_id) {
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto current = entry++;
      if (current->thread_id == thread_id) erase(current);
    }
  }

 private:
  // The entry itself, with the names in it.
  static constexpr std::size_t kOverhead = 512;

  struct Entry {
    std::string thread_id;
    std::string place;  // its name
    std::string checkpoint_id = {};
    T content = {};
    std::size_t bytes = 0;
  };
  using Entries = std::list<Entry>;  // the last used first

  // Neither part can be taken for the other: the length of the first comes before it.
  static std::string name_of(const CheckpointKey& place) {
    std::string name;
    name.reserve(place.thread_id.size() + place.checkpoint_ns.size() + 8);
    name.append(std::to_string(place.thread_id.size())).append(1, ':');
    return name.append(place.thread_id).append(place.checkpoint_ns);
  }

  typename Entries::iterator find(const CheckpointKey& key) {
    if (entries_.empty()) return entries_.end();
    const auto found = by_place_.find(name_of(key));
    if (found == by_place_.end()) return entries_.end();
    if (found->second->checkpoint_id != key.checkpoint_id) return entries_.end();
    return found->second;
  }

  // The entry of the place, an empty one if there was none, as the last used.
  Entry& first_entry(const CheckpointKey& place) {
    std::string name = name_of(place);
    const auto found = by_place_.find(name);
    if (found != by_place_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
    } else {
      entries_.push_front({place.thread_id, std::move(name)});
      by_place_.emplace(entries_.front().place, entries_.begin());
    }
    return entries_.front();
  }

  void erase(typename Entries::iterator entry) {
    bytes_ -= entry->bytes;
    by_place_.erase(entry->place);
    entries_.erase(entry);
  }

  const std::size_t max_bytes_;
  std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string, typename Entries::iterator> by_place_;
  std::size_t bytes_ = 0;
};

}  // namespace clew::sqlite
