#include "store/sqlite/search.hpp"

#include <algorithm>

#include "store/filter.hpp"
#include "store/operations.hpp"

namespace clew::sqlite {
namespace {

// Past every time there is; differences from it are exact in a double.
constexpr std::int64_t kEndOfTimes = std::int64_t{1} << 52;

// Of rows of the same time the one with the greater number comes first.
SearchCursor cursor_of(const RowPlace& place, StoreOrder order, bool is_behind_scores) {
  if (order == StoreOrder::first_stored) return {store::unscored_rank(place.rank), place.row};
  if (is_behind_scores) return {store::unscored_rank(kEndOfTimes - place.rank), -place.row};
  return {static_cast<double>(place.rank), -place.row};
}

RowPlace place_of(const SearchCursor& cursor, StoreOrder order) {
  if (order == StoreOrder::first_stored) return {store::unscored_order(cursor.rank), cursor.place};
  const std::int64_t time = store::is_unscored(cursor.rank)
                                ? kEndOfTimes - store::unscored_order(cursor.rank)
                                : static_cast<std::int64_t>(cursor.rank);
  return {time, -cursor.place};
}

}  // namespace

Search::Search(const ItemSource& source, StoreOrder order, const SearchOp& op)
    : source_(source), order_(order), op_(op), prefix_(prefix_of(op.prefix)) {}

std::vector<FoundItem> Search::in_order() {
  const SearchOptions& options = op_.options;
  add_in_order(options.after, options.offset, options.limit, false,
               [](const Item&) { return true; });
  return std::move(found_);
}

std::vector<FoundItem> Search::ranked(const Mirror& mirror, const Embedder::Vector& query) {
  const SearchOptions& options = op_.options;
  const std::optional<store::Candidates> among = candidates(mirror);
  const store::RankedPage page =
      store::rank(options, query, mirror.indexes(options), among ? &*among : nullptr);
  for (const store::Hit& hit : page.hits) {
    const auto& [prefix, key] = mirror.name(hit.id);
    std::optional<StoredItem> stored = source_.find(prefix, key);
    if (stored) found_.push_back({*std::move(stored), hit.score, {hit.score, hit.id}});
  }
  const bool starts_behind_scores = options.after && store::is_unscored(options.after->rank);
  add_in_order(starts_behind_scores ? options.after : std::nullopt, page.unscored_offset,
               page.unscored_limit, true, [&](const Item& item) {
                 const auto id = mirror.find(prefix_of(item.namespace_), item.key);
                 return !id || page.is_unscored(*id);
               });
  return std::move(found_);
}

bool Search::has_filter() const {
  return op_.options.filter.is_object() && !op_.options.filter.empty();
}

bool Search::matches(const Item& item) const {
  return !has_filter() || store::matches(item.value, op_.options.filter, store::FilterMeaning::sql);
}

// Filter first: what does not match is not even compared.
std::optional<store::Candidates> Search::candidates(const Mirror& mirror) {
  if (has_filter() || source_.has_expired()) return matching_items(mirror);
  return mirror.below(prefix_);
}

store::Candidates Search::matching_items(const Mirror& mirror) {
  store::Candidates ids;
  const auto items = source_.in_order(prefix_, std::nullopt);
  while (const auto placed = items->next()) {
    const Item& item = placed->stored->item;
    if (!matches(item)) continue;
    if (const auto id = mirror.find(prefix_of(item.namespace_), item.key)) ids.push_back(*id);
  }
  std::ranges::sort(ids);
  return ids;
}

template <class Accept>
void Search::add_in_order(const std::optional<SearchCursor>& after, std::size_t offset,
                          std::size_t limit, bool is_behind_scores, const Accept& accept) {
  if (limit == 0) return;
  std::optional<RowPlace> after_place;
  if (after) after_place = place_of(*after, order_);
  const auto items = source_.in_order(prefix_, after_place);
  for (std::size_t seen = 0; const auto placed = items->next();) {
    const Item& item = placed->stored->item;
    if (!accept(item) || !matches(item) || seen++ < offset) continue;
    const SearchCursor cursor = cursor_of(placed->place, order_, is_behind_scores);
    found_.push_back({*placed->stored, std::nullopt, cursor});
    if (seen - offset == limit) return;
  }
}

}  // namespace clew::sqlite
