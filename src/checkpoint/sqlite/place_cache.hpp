// What is known of the checkpoint that each thread and namespace was last seen at, so that it
// need not be read from the file. What nobody runs on is let go.
//
// All methods may be called from any thread.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
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
    std::optional<T> content = std::exchange(entry->content, std::nullopt);
    set_bytes(*entry, 0);
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
    return look(std::as_const(*entry->content));
  }

  // The same for whichever checkpoint is known there; `look` takes its id too.
  template <class Look>
  auto look_at(const CheckpointKey& place, const Look& look)
      -> std::optional<std::invoke_result_t<Look, const std::string&, const T&>> {
    const std::lock_guard lock(mutex_);
    const auto entry = find_at(place);
    if (entry == entries_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, entry);
    return look(std::as_const(entry->key.checkpoint_id), std::as_const(*entry->content));
  }

  // Calls `change` with what is known there, if anything is.
  template <class Change>
  void change_at(const CheckpointKey& place, const Change& change) {
    const std::lock_guard lock(mutex_);
    const auto entry = find_at(place);
    if (entry != entries_.end()) change(*entry->content);
  }

  // Replaces what was known of the place, a thread and namespace. `bytes` is about what `content`
  // takes.
  void remember(const CheckpointKey& place, std::string_view checkpoint_id, T content,
                std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Entry& entry = first_entry(place);
    entry.key.checkpoint_id = checkpoint_id;
    entry.content = std::move(content);
    set_bytes(entry, bytes);
    while (bytes_ > max_bytes_ && entries_.size() > 1) erase(std::prev(entries_.end()));
  }

  // Whichever checkpoint is known there.
  void forget(const CheckpointKey& place) {
    const std::lock_guard lock(mutex_);
    const auto found = by_place_.find(place);
    if (found != by_place_.end()) erase(*found);
  }

  void forget_thread(std::string_view thread_id) {
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto current = entry++;
      if (current->key.thread_id == thread_id) erase(current);
    }
  }

 private:
  // The entry itself, with the names in it.
  static constexpr std::size_t kOverhead = 512;

  struct Entry {
    CheckpointKey key;
    std::optional<T> content = {};  // nothing if it was taken
    std::size_t bytes = 0;
  };
  using Entries = std::list<Entry>;  // the last used first
  using Place = typename Entries::iterator;

  // By thread and namespace of an entry or a key.
  struct ByPlace {
    using is_transparent = void;

    static const CheckpointKey& key_of(const CheckpointKey& key) { return key; }
    static const CheckpointKey& key_of(Place entry) { return entry->key; }

    std::size_t operator()(const auto& place) const {
      const CheckpointKey& key = key_of(place);
      const std::hash<std::string> hash;
      return hash(key.thread_id) * 31 + hash(key.checkpoint_ns);
    }
    bool operator()(const auto& left, const auto& right) const {
      const CheckpointKey& a = key_of(left);
      const CheckpointKey& b = key_of(right);
      return a.thread_id == b.thread_id && a.checkpoint_ns == b.checkpoint_ns;
    }
  };

  Place find_at(const CheckpointKey& place) {
    const auto found = by_place_.find(place);
    return found != by_place_.end() && (*found)->content ? *found : entries_.end();
  }

  Place find(const CheckpointKey& key) {
    const Place entry = find_at(key);
    if (entry == entries_.end()) return entry;
    return entry->key.checkpoint_id == key.checkpoint_id ? entry : entries_.end();
  }

  void set_bytes(Entry& entry, std::size_t bytes) {
    bytes_ += kOverhead + bytes - std::exchange(entry.bytes, kOverhead + bytes);
  }

  // The entry of the place, an empty one if there was none, as the last used.
  Entry& first_entry(const CheckpointKey& place) {
    const auto found = by_place_.find(place);
    if (found != by_place_.end()) {
      entries_.splice(entries_.begin(), entries_, *found);
    } else {
      entries_.push_front({{place.thread_id, place.checkpoint_ns}});
      by_place_.insert(entries_.begin());
    }
    return entries_.front();
  }

  void erase(Place entry) {
    bytes_ -= entry->bytes;
    by_place_.erase(entry);
    entries_.erase(entry);
  }

  const std::size_t max_bytes_;
  std::mutex mutex_;
  Entries entries_;
  std::unordered_set<Place, ByPlace, ByPlace> by_place_;
  std::size_t bytes_ = 0;
};

}  // namespace clew::sqlite
