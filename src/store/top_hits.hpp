// The best of many hits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "store/vector_index.hpp"

namespace clew::store {

// The better one first; of equal ones that with the lower id.
inline bool comes_before(const Hit& a, const Hit& b) {
  return a.score != b.score ? a.score > b.score : a.id < b.id;
}

class TopHits {
 public:
  // Keeps at most `limit`, and with `after` only those behind it.
  TopHits(std::size_t limit, const Hit* after) : limit_(limit), after_(after) {}

  // Each item once.
  void offer(const Hit& hit) {
    if (after_ && !comes_before(*after_, hit)) return;
    if (hits_.size() == limit_) {
      if (limit_ == 0 || !comes_before(hit, hits_.front())) return;
      std::ranges::pop_heap(hits_, comes_before);
      hits_.back() = hit;
    } else {
      hits_.push_back(hit);
    }
    std::ranges::push_heap(hits_, comes_before);
  }

  std::size_t size() const { return hits_.size(); }

  std::vector<Hit> take() && {
    std::ranges::sort_heap(hits_, comes_before);
    return std::move(hits_);
  }

 private:
  std::size_t limit_;
  const Hit* after_;
  std::vector<Hit> hits_;  // a heap, the worst on top
};

}  // namespace clew::store
