#include "store/operations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <clew/errors.hpp>

#include "value/utf8.hpp"

namespace clew::store {

namespace {

bool is_utf8(std::string_view text) {
  return internal::find_invalid_utf8(text) == std::string_view::npos;
}

bool is_utf8(const Value& value) {
  switch (value.kind()) {
    case Kind::string: return is_utf8(value.as_string());
    case Kind::list:
      return std::all_of(value.begin(), value.end(), [](const Value& e) { return is_utf8(e); });
    case Kind::object:
      for (auto [key, entry] : value.items()) {
        if (!is_utf8(key) || !is_utf8(entry)) return false;
      }
      return true;
    default: return true;
  }
}

void check_op(const PutOp& put) {
  check_labels(put.namespace_);
  if (!put.value.is_object() && !put.value.is_null()) {
    throw ValueError("an item of a store is an object, found " + put.value.type_name());
  }
  check_text(put.key, put.value);
}
void check_op(const GetOp& get) { check_labels(get.namespace_); }
void check_op(const SearchOp& search) { check_labels(search.prefix); }
void check_op(const ListNamespacesOp& list) {
  check_labels(list.options.prefix);
  check_labels(list.options.suffix);
}

bool labels_match(std::span<const std::string_view> labels, const StoreNamespace& pattern) {
  return std::ranges::equal(labels, pattern, [](std::string_view label, std::string_view wanted) {
    return wanted == "*" || label == wanted;
  });
}

}  // namespace

void check_text(std::string_view key, const Value& value) {
  if (is_utf8(key) && is_utf8(value)) return;
  throw ValueError("item '" + std::string(key) +
                   "' holds text that is not UTF-8; convert it before it is put");
}

void check(const StoreOp& op) {
  std::visit([](const auto& known) { check_op(known); }, op);
}

void check(std::span<const StoreOp> ops) {
  for (const StoreOp& op : ops) check(op);
}

std::vector<const PutOp*> last_puts(std::span<const StoreOp> ops) {
  std::vector<const PutOp*> puts;
  for (const StoreOp& op : ops) {
    if (const auto* put = std::get_if<PutOp>(&op)) puts.push_back(put);
  }
  if (puts.size() < 2) return puts;

  std::map<std::pair<StoreNamespace, std::string>, std::size_t> places;
  std::vector<const PutOp*> last;
  for (const PutOp* put : puts) {
    const auto [place, is_new] = places.try_emplace({put->namespace_, put->key}, last.size());
    if (is_new) last.push_back(nullptr);
    last[place->second] = put;
  }
  return last;
}

bool is_wanted(const StoreNamespace& ns, const ListNamespacesOptions& options) {
  const std::vector<std::string_view> all(ns.begin(), ns.end());
  const std::span labels(all);
  return labels.size() >= std::max(options.prefix.size(), options.suffix.size()) &&
         labels_match(labels.first(options.prefix.size()), options.prefix) &&
         labels_match(labels.last(options.suffix.size()), options.suffix);
}

void NamespaceList::add(const StoreNamespace& ns) {
  if (is_full() || !is_wanted(ns, options_)) return;
  StoreNamespace cut = options_.max_depth ? ns.first(*options_.max_depth) : ns;
  if (previous_ == cut) return;
  previous_ = cut;
  if (seen_++ >= options_.offset) listed_.push_back(std::move(cut));
}

std::size_t sum(std::size_t a, std::size_t b) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  return b > kMost - a ? kMost : a + b;
}

bool is_behind(const SearchCursor& place, const SearchCursor& other) {
  if (place.rank != other.rank) return place.rank < other.rank;
  return place.place > other.place;
}

// Scores come from floats, which end at 2^128. A power of two loses no digit.
constexpr int kBelowAnyScore = 512;

double unscored_rank(std::int64_t order) {
  return -std::ldexp(static_cast<double>(order) + 1, kBelowAnyScore);
}

bool is_unscored(double rank) { return rank <= unscored_rank(0); }

std::int64_t unscored_order(double rank) {
  return static_cast<std::int64_t>(std::ldexp(-rank, -kBelowAnyScore)) - 1;
}

Item::Time now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

std::optional<std::chrono::milliseconds> ttl_of(const PutOptions& put,
                                                const std::optional<StoreTtl>& ttl) {
  std::optional<std::chrono::milliseconds> lives = put.ttl;
  if (!lives && ttl) lives = ttl->default_ttl;
  if (lives == kNoTtl) return std::nullopt;
  return lives;
}

void check_ttl(const PutOptions& put, const std::optional<StoreTtl>& ttl) {
  if (ttl || !put.ttl || put.ttl == kNoTtl) return;
  throw BadArgumentError(
      "this store keeps items for good; leave out the ttl, or set StoreOptions::ttl");
}

bool is_refreshed(std::optional<bool> refresh_ttl, const std::optional<StoreTtl>& ttl) {
  return ttl && refresh_ttl.value_or(ttl->refresh_on_read);
}

Item::Time expiry(Item::Time from, std::chrono::milliseconds ttl) {
  const auto longest = std::chrono::floor<std::chrono::milliseconds>(Item::Time::max() - from);
  return ttl > longest ? Item::Time::max() : from + ttl;
}

}  // namespace clew::store
