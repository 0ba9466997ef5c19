#include "first_stored.hpp"

#include <algorithm>
#include <limits>

namespace clew::conformance {
namespace {

bool is_ordered_here(const SearchOptions& options) { return options.query.empty(); }

// All that a search finds: the page is cut when they are in order.
StoreOp without_page(StoreOp op) {
  auto* search = std::get_if<SearchOp>(&op);
  if (search && is_ordered_here(search->options)) {
    search->options.limit = std::numeric_limits<std::size_t>::max();
    search->options.offset = 0;
  }
  return op;
}

void cut_page(std::vector<SearchItem>& items, const SearchOptions& options) {
  const auto place = [&](std::size_t count) {
    return items.begin() + static_cast<std::ptrdiff_t>(std::min(count, items.size()));
  };
  items.erase(items.begin(), place(options.offset));
  items.erase(place(options.limit), items.end());
}

}  // namespace

std::vector<StoreResult> FirstStored::batch(std::span<const StoreOp> ops) {
  const std::lock_guard lock(mutex_);
  std::vector<StoreOp> unpaged;
  for (const StoreOp& op : ops) unpaged.push_back(without_page(op));
  std::vector<StoreResult> results = store_->batch(unpaged);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto* search = std::get_if<SearchOp>(&ops[i]);
    if (!search) continue;
    auto& items = std::get<std::vector<SearchItem>>(results[i]);
    sort_unscored(items);
    if (is_ordered_here(search->options)) cut_page(items, search->options);
  }
  for (const StoreOp& op : ops) {
    if (const auto* put = std::get_if<PutOp>(&op)) note(*put);
  }
  return results;
}

void FirstStored::note(const PutOp& put) {
  const Name name(put.namespace_, put.key);
  if (put.value.is_null()) {
    std::erase(names_, name);
  } else if (std::ranges::find(names_, name) == names_.end()) {
    names_.push_back(name);
  }
}

// Those with a score come first, and are in order already.
void FirstStored::sort_unscored(std::vector<SearchItem>& items) const {
  const auto unscored =
      std::ranges::find_if(items, [](const SearchItem& item) { return !item.score; });
  std::ranges::sort(unscored, items.end(), {},
                    [this](const SearchItem& item) { return place_of(item); });
}

// Namespaces in the order of their first items, in each the items.
std::pair<std::ptrdiff_t, std::ptrdiff_t> FirstStored::place_of(const Item& item) const {
  const auto of_namespace = std::ranges::find(names_, item.namespace_, &Name::first);
  const auto own = std::ranges::find(names_, Name(item.namespace_, item.key));
  return {of_namespace - names_.begin(), own - names_.begin()};
}

}  // namespace clew::conformance
