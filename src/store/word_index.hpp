// Finds the texts that have words in common with a query, the rare words
// counting most (BM25).
//
// A word is a run of letters and digits, whether large or small; each character
// of a script without spaces between words is one. Numbers and locking as in
// VectorIndex.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/vector_index.hpp"

namespace clew::store {

class WordIndex {
 public:
  WordIndex();
  WordIndex(const WordIndex&) = delete;
  WordIndex& operator=(const WordIndex&) = delete;
  ~WordIndex();

  // In place of what the item had.
  void put(ItemId id, std::span<const std::string> texts);
  void erase(ItemId id);

  // At most `limit` of those that have a word of the query, the best first; of
  // equal ones that with the lower id. With `after` only those behind where it
  // is now; scores change with all texts.
  std::vector<Hit> search(std::string_view query, std::size_t limit,
                          const Candidates* candidates = nullptr, const Hit* after = nullptr) const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

// The words of a text, in their order.
std::vector<std::string> words_of(std::string_view text);

// One ranking of two by reciprocal ranks: what is high in either is high, what
// is high in both higher. The score is the sum of 1 / (60 + rank).
std::vector<Hit> fuse(std::span<const Hit> first, std::span<const Hit> second);

// What the place `rank`, from 1, adds to the score.
double reciprocal_rank(std::size_t rank);

}  // namespace clew::store
