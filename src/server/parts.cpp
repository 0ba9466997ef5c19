#include "server/parts.hpp"

#include <algorithm>

namespace clew::server {

Time ServerParts::now() const {
  if (options.clock) return options.clock();
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

std::chrono::microseconds ttl_duration(const ThreadTtl& ttl) {
  constexpr double kLongest = 60.0 * 24 * 365 * 1000;  // a thousand years
  const double minutes = std::clamp(ttl.minutes, 0.0, kLongest);
  return std::chrono::microseconds(static_cast<std::int64_t>(minutes * 60e6));
}

Listing listing(Value rows, const Page& page, bool has_more) {
  Listing listing;
  listing.total = page.offset + rows.size() + (has_more ? 1 : 0);
  if (has_more) listing.next = page.offset + rows.size();
  listing.rows = std::move(rows);
  return listing;
}

}  // namespace clew::server
