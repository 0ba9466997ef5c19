// One search of a store in a file.
#pragma once

#include <optional>
#include <vector>

#include <clew/store.hpp>

#include "store/sqlite/items.hpp"
#include "store/sqlite/mirror.hpp"

namespace clew::sqlite {

struct FoundItem {
  StoredItem stored;
  std::optional<double> score;
  SearchCursor cursor;
};

class Search {
 public:
  // All that it refers to must live as long.
  Search(const ItemSource& source, StoreOrder order, const SearchOp& op);

  std::vector<FoundItem> in_order();

  // The best first, then what cannot be ranked, in order. Within Mirror::read;
  // `query` is the vector of the query, if it has one.
  std::vector<FoundItem> ranked(const Mirror& mirror, const Embedder::Vector& query);

 private:
  bool has_filter() const;
  bool matches(const Item& item) const;
  std::optional<store::Candidates> candidates(const Mirror& mirror);
  store::Candidates matching_items(const Mirror& mirror);
  template <class Accept>
  void add_in_order(const std::optional<SearchCursor>& after, std::size_t offset, std::size_t limit,
                    bool is_behind_scores, const Accept& accept);

  const ItemSource& source_;
  const StoreOrder order_;
  const SearchOp& op_;
  const std::string prefix_;
  std::vector<FoundItem> found_;
};

}  // namespace clew::sqlite
