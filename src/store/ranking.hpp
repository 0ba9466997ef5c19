// Which items a search with a query gives, and in which order.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <clew/store.hpp>

#include "store/vector_index.hpp"
#include "store/word_index.hpp"

namespace clew::store {

// The two ways to find an item; null if the store or the search has none.
struct Indexes {
  const VectorIndex* vectors = nullptr;
  const WordIndex* words = nullptr;
};

// Whether the search compares words, vectors. Neither: it gives items in their
// order, as without a query.
bool needs_words(const SearchOptions& options);
bool needs_vectors(const SearchOptions& options, bool has_vectors);

// A part of what a search finds: items with a score, then others in the order of
// the store.
struct RankedPage {
  std::vector<Hit> hits;
  std::size_t unscored_offset = 0;
  std::size_t unscored_limit = 0;

  // Whether the item is one of those others.
  bool is_unscored(ItemId id) const {
    return !vectors->contains(id) && !found_by_words.contains(id);
  }

  const VectorIndex* vectors = nullptr;
  std::unordered_set<ItemId> found_by_words = {};  // if there are vectors too
};

// The page that `options` asks for. `vector` is that of the query, used if there
// are vectors.
RankedPage rank(const SearchOptions& options, const Embedder::Vector& vector,
                const Indexes& indexes, const Candidates* candidates);

}  // namespace clew::store
