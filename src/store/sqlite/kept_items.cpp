#include "store/sqlite/kept_items.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace clew::sqlite {

// Changing -----------------------------------------------------------------------

void KeptItems::put(std::string_view prefix, KeptItem item) {
  erase(prefix, item.stored.item.key);
  Namespace& ns = namespaces_[std::string(prefix)];
  bytes_ += item.bytes;
  if (!item.is_whole) ++ns.partial;
  std::string key = item.stored.item.key;
  const KeptItem& kept = ns.by_key.emplace(std::move(key), std::move(item)).first->second;
  if (!ns.in_order.emplace(key_of(kept.stored), &kept).second) ns.has_lost_order = true;
}

void KeptItems::erase(std::string_view prefix, std::string_view key) {
  const auto ns = namespaces_.find(prefix);
  if (ns == namespaces_.end()) return;
  const auto found = ns->second.by_key.find(key);
  if (found == ns->second.by_key.end()) return;
  const KeptItem& kept = found->second;
  bytes_ -= kept.bytes;
  if (!kept.is_whole) --ns->second.partial;
  ns->second.in_order.erase(key_of(kept.stored));
  ns->second.by_key.erase(found);
  if (ns->second.by_key.empty()) namespaces_.erase(ns);
}

// Looking ------------------------------------------------------------------------

const KeptItem* KeptItems::look_up(std::string_view prefix, std::string_view key) const {
  const auto ns = namespaces_.find(prefix);
  if (ns == namespaces_.end()) return nullptr;
  const auto found = ns->second.by_key.find(key);
  return found == ns->second.by_key.end() ? nullptr : &found->second;
}

std::optional<StoredItem> KeptItems::find(std::string_view prefix, std::string_view key) const {
  const KeptItem* kept = look_up(prefix, key);
  if (!kept) return std::nullopt;
  return kept->stored;
}

bool KeptItems::has_all_below(std::string_view prefix) const {
  bool has_all = true;
  visit_below(prefix, [&](const Namespace& ns) {
    has_all = has_all && ns.partial == 0 && !ns.has_lost_order;
  });
  return has_all;
}

template <class Visit>
void KeptItems::visit_below(std::string_view prefix, const Visit& visit) const {
  for (auto ns = namespaces_.lower_bound(prefix); ns != namespaces_.end(); ++ns) {
    if (!ns->first.starts_with(prefix)) return;
    if (is_below(ns->first, prefix)) visit(ns->second);
  }
}

// In order -----------------------------------------------------------------------

KeptItems::Key KeptItems::key_of(const StoredItem& stored) const {
  return key_of(RowPlace{stored.item.updated_at.time_since_epoch().count(), stored.row});
}

KeptItems::Key KeptItems::key_of(const RowPlace& place) const {
  if (order_ == StoreOrder::first_stored) return {0, place.row};
  return {-place.rank, -place.row};
}

std::int64_t KeptItems::group_of(const Namespace& ns) const {
  return order_ == StoreOrder::first_stored ? ns.in_order.begin()->first.second : 0;
}

std::int64_t KeptItems::group_of(const RowPlace& place) const {
  return order_ == StoreOrder::first_stored ? place.rank : 0;
}

// The items of several namespaces, each of which has its own in order.
class KeptItems::Merged final : public OrderedItems {
 public:
  Merged(const KeptItems& items, std::string_view prefix, const std::optional<RowPlace>& after)
      : items_(items) {
    items.visit_below(prefix, [&](const Namespace& ns) {
      parts_.push_back({items.group_of(ns), &ns.in_order, ns.in_order.begin()});
    });
    if (after) go_behind(*after);
    std::ranges::make_heap(parts_, is_later);
  }

  std::optional<PlacedItem> next() override {
    if (parts_.empty()) return std::nullopt;
    std::ranges::pop_heap(parts_, is_later);
    Part& part = parts_.back();
    const PlacedItem placed{&part.next->second->stored, place_of(part)};
    if (++part.next == part.all->end()) {
      parts_.pop_back();
    } else {
      std::ranges::push_heap(parts_, is_later);
    }
    return placed;
  }

 private:
  struct Part {
    std::int64_t group;
    const InOrder* all;
    InOrder::const_iterator next;
  };

  static bool is_later(const Part& a, const Part& b) {
    return std::tie(a.group, a.next->first) > std::tie(b.group, b.next->first);
  }

  RowPlace place_of(const Part& part) const {
    const auto [rank, row] = part.next->first;
    if (items_.order_ == StoreOrder::first_stored) return {part.group, row};
    return {-rank, -row};
  }

  // A namespace whose first item is gone stands elsewhere now. The item that the
  // place was of tells which one it is, and its own place only if it is gone too.
  void go_behind(const RowPlace& after) {
    const Key key = items_.key_of(after);
    std::int64_t group = items_.group_of(after);
    for (const Part& part : parts_) {
      if (part.all->contains(key)) group = part.group;
    }
    for (Part& part : parts_) {
      if (part.group == group) part.next = part.all->upper_bound(key);
    }
    std::erase_if(parts_, [&](const Part& part) {
      return part.group < group || part.next == part.all->end();
    });
  }

  const KeptItems& items_;
  std::vector<Part> parts_;  // a heap, the one with the next item on top
};

std::unique_ptr<OrderedItems> KeptItems::in_order(const std::string& prefix,
                                                  const std::optional<RowPlace>& after) const {
  return std::make_unique<Merged>(*this, prefix, after);
}

}  // namespace clew::sqlite
