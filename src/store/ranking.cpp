#include "store/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "store/operations.hpp"
#include "store/top_hits.hpp"

namespace clew::store {

namespace {

// A hybrid search fuses the first of both rankings. It does not depend on the
// page, else pages would not fit together.
constexpr std::size_t kFused = 100;

// How far down the meanings are ranked so that the page is among them.
std::size_t hybrid_depth(std::size_t limit, const Hit* after, std::size_t items) {
  const double reached = after ? std::min(1 / after->score, static_cast<double>(items)) : 0;
  return sum(static_cast<std::size_t>(reached) + 2 * kFused, limit);
}

std::vector<Hit> words_to_fuse(const SearchOptions& options, const Indexes& indexes,
                               const Candidates* candidates) {
  return indexes.words->search(options.query, kFused, candidates);
}

std::unordered_set<ItemId> ids_of(std::span<const Hit> hits) {
  std::unordered_set<ItemId> ids;
  for (const Hit& hit : hits) ids.insert(hit.id);
  return ids;
}

// Ranks change when items come and go: what counts is where the last item of the
// page before is now, and its score only if it is gone.
void drop_until(const Hit& last, std::vector<Hit>& ranked) {
  auto end = std::ranges::find(ranked, last.id, &Hit::id);
  if (end != ranked.end()) {
    ++end;
  } else {
    end = std::ranges::find_if(ranked, [&](const Hit& hit) { return comes_before(last, hit); });
  }
  ranked.erase(ranked.begin(), end);
}

// What is among the first by either comes first, then the others by meaning.
std::vector<Hit> rank_hybrid(const SearchOptions& options, const Embedder::Vector& vector,
                             const Indexes& indexes, std::size_t limit,
                             const Candidates* candidates, const Hit* after) {
  const std::size_t depth = hybrid_depth(limit, after, indexes.vectors->size());
  const std::vector<Hit> by_meaning = indexes.vectors->search(vector, depth, candidates);
  const std::vector<Hit> by_words = words_to_fuse(options, indexes, candidates);
  const std::size_t fused = std::min(kFused, by_meaning.size());

  std::vector<Hit> ranked = fuse(std::span(by_meaning).first(fused), by_words);
  const std::unordered_set<ItemId> seen = ids_of(by_words);
  for (std::size_t i = fused; i < by_meaning.size(); ++i) {
    if (!seen.contains(by_meaning[i].id)) {
      ranked.push_back({by_meaning[i].id, reciprocal_rank(i + 1)});
    }
  }
  if (after) drop_until(*after, ranked);
  if (ranked.size() > limit) ranked.resize(limit);
  return ranked;
}

std::vector<Hit> best(const SearchOptions& options, const Embedder::Vector& vector,
                      const Indexes& indexes, std::size_t limit, const Candidates* candidates,
                      const Hit* after) {
  if (indexes.vectors && indexes.words) {
    return rank_hybrid(options, vector, indexes, limit, candidates, after);
  }
  if (indexes.words) return indexes.words->search(options.query, limit, candidates, after);
  return indexes.vectors->search(vector, limit, candidates, after);
}

}  // namespace

bool needs_words(const SearchOptions& options) {
  return !options.query.empty() && options.mode != SearchMode::semantic;
}

bool needs_vectors(const SearchOptions& options, bool has_vectors) {
  return has_vectors && !options.query.empty() && options.mode != SearchMode::text;
}

RankedPage rank(const SearchOptions& options, const Embedder::Vector& vector,
                const Indexes& indexes, const Candidates* candidates) {
  RankedPage page;
  std::optional<Hit> after;
  if (options.after) after = {options.after->place, options.after->rank};
  const std::size_t end = sum(options.offset, options.limit);
  if (!after || after->score > unscored_rank(0)) {
    page.hits = best(options, vector, indexes, end, candidates, after ? &*after : nullptr);
  }
  const std::size_t scored = page.hits.size();
  const auto first = static_cast<std::ptrdiff_t>(std::min(options.offset, scored));
  page.hits.erase(page.hits.begin(), page.hits.begin() + first);
  // Without vectors an item that has none of the words is not found at all.
  if (indexes.vectors) {
    page.vectors = indexes.vectors;
    if (indexes.words) page.found_by_words = ids_of(words_to_fuse(options, indexes, candidates));
    page.unscored_offset = options.offset - std::min(options.offset, scored);
    page.unscored_limit = options.limit - page.hits.size();
  }
  return page;
}

}  // namespace clew::store
