// What all stores do with operations, wherever they keep their items.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <clew/store.hpp>

namespace clew::store {

// Throws InvalidNamespaceError for labels that do not go, and ValueError for a
// value that is no object. A batch is checked before any of it runs.
void check(const StoreOp& op);
void check(std::span<const StoreOp> ops);

// Throws ValueError if there is text that neither words nor a file could hold.
void check_text(std::string_view key, const Value& value);

// The last put to each key, in the place of the first.
std::vector<const PutOp*> last_puts(std::span<const StoreOp> ops);

// Whether its beginning and its end are what the options ask for.
bool is_wanted(const StoreNamespace& ns, const ListNamespacesOptions& options);

// Of namespaces that come sorted, one by one, those that list_namespaces() gives.
class NamespaceList {
 public:
  explicit NamespaceList(const ListNamespacesOptions& options) : options_(options) {}

  void add(const StoreNamespace& ns);
  bool is_full() const { return listed_.size() >= options_.limit; }
  std::vector<StoreNamespace> take() && { return std::move(listed_); }

 private:
  const ListNamespacesOptions& options_;
  std::vector<StoreNamespace> listed_;
  std::optional<StoreNamespace> previous_;
  std::size_t seen_ = 0;
};

// Without wrapping around: limits may be as large as can be.
std::size_t sum(std::size_t a, std::size_t b);

// ---- Cursors

// Whether an item at `place` comes later than one at `other`.
bool is_behind(const SearchCursor& place, const SearchCursor& other);

// The rank of an item without a score, below that of any score. Of two the one
// with the lower `order` comes first; it is at least 0 and less than 2^53.
double unscored_rank(std::int64_t order);
bool is_unscored(double rank);
std::int64_t unscored_order(double rank);

// ---- Time to live

Item::Time now();

// How long an item lives that is put so. Nothing: for good.
std::optional<std::chrono::milliseconds> ttl_of(const PutOptions& put,
                                                const std::optional<StoreTtl>& ttl);

// Throws BadArgumentError if the item has a time to live and the store knows none.
void check_ttl(const PutOptions& put, const std::optional<StoreTtl>& ttl);

// Whether a read that says `refresh_ttl` makes items live anew.
bool is_refreshed(std::optional<bool> refresh_ttl, const std::optional<StoreTtl>& ttl);

// When its time is over; the last moment there is if it lives longer than that.
Item::Time expiry(Item::Time from, std::chrono::milliseconds ttl);

}  // namespace clew::store
