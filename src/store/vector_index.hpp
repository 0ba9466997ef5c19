// Finds the vectors that are nearest to a query.
//
// Items are known by numbers of the store's choice; an item may have several
// vectors, of which the nearest counts. Any number of searches may run at a
// time, a change only alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <clew/store_index.hpp>

namespace clew::store {

using ItemId = std::int64_t;

struct Hit {
  ItemId id = 0;
  double score = 0;

  friend bool operator==(const Hit&, const Hit&) = default;
};

// Which items a search may find: all if null, else these, in ascending order.
using Candidates = std::vector<ItemId>;

class VectorIndex {
 public:
  VectorIndex(Distance distance, std::optional<HnswOptions> hnsw);
  VectorIndex(const VectorIndex&) = delete;
  VectorIndex& operator=(const VectorIndex&) = delete;
  ~VectorIndex();

  // All vectors are as long as the first one ever put. Throws ValueError if
  // these are not, as put() does then.
  void check(std::span<const Embedder::Vector> vectors) const;

  // In place of what the item had.
  void put(ItemId id, std::span<const Embedder::Vector> vectors);
  void erase(ItemId id);

  bool contains(ItemId id) const;
  std::size_t size() const;  // items

  // At most `limit`, the best first; of equal ones that with the lower id. With
  // `after` only those behind it.
  std::vector<Hit> search(const Embedder::Vector& query, std::size_t limit,
                          const Candidates* candidates = nullptr, const Hit* after = nullptr) const;

  // Whether searches use a graph of neighbours, which has all that was put.
  bool has_graph() const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace clew::store
