// All items of a file in memory, by their names and in the order of searches.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "store/sqlite/items.hpp"
#include "value/text_hash.hpp"

namespace clew::sqlite {

class KeptItems final : public ItemSource {
 public:
  explicit KeptItems(StoreOrder order) : order_(order) {}

  void put(std::string_view prefix, KeptItem item);
  void erase(std::string_view prefix, std::string_view key);

  // Of all names and values, as the file has them.
  std::size_t bytes() const { return bytes_; }

  // Null if there is no such item.
  const KeptItem* look_up(std::string_view prefix, std::string_view key) const;

  // Whether no item below the namespace has to be read from the file.
  bool has_all_below(std::string_view prefix) const;

  // Only if all that is asked for is here.
  std::unique_ptr<OrderedItems> in_order(const std::string& prefix,
                                         const std::optional<RowPlace>& after) const override;
  std::optional<StoredItem> find(std::string_view prefix, std::string_view key) const override;
  bool has_expired() const override { return false; }

 private:
  // Ascending in the order of a search within a namespace.
  using Key = std::pair<std::int64_t, std::int64_t>;
  using InOrder = std::map<Key, const KeptItem*>;

  struct Namespace {
    internal::ByText<KeptItem> by_key;
    InOrder in_order;
    std::size_t partial = 0;  // items that have to be read from the file
    // Rows were numbered anew, by VACUUM, and the order is not known any more.
    bool has_lost_order = false;
  };

  class Merged;

  Key key_of(const StoredItem& stored) const;
  Key key_of(const RowPlace& place) const;
  // Namespaces with a lower one come first; those with the same one are mixed.
  std::int64_t group_of(const Namespace& ns) const;
  std::int64_t group_of(const RowPlace& place) const;
  template <class Visit>
  void visit_below(std::string_view prefix, const Visit& visit) const;

  const StoreOrder order_;
  std::map<std::string, Namespace, std::less<>> namespaces_;
  std::size_t bytes_ = 0;
};

}  // namespace clew::sqlite
