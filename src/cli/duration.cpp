#include "cli/duration.hpp"

#include <charconv>

#include <clew/error.hpp>

namespace clew::cli {
namespace {

std::chrono::seconds unit_of(char letter) {
  switch (letter) {
    case 's': return std::chrono::seconds(1);
    case 'm': return std::chrono::minutes(1);
    case 'h': return std::chrono::hours(1);
    case 'd': return std::chrono::days(1);
    case 'w': return std::chrono::weeks(1);
    default: return std::chrono::seconds(0);
  }
}

}  // namespace

std::chrono::seconds duration_of(const std::string& text) {
  constexpr std::uint32_t kMost = 1'000'000;  // weeks that a time still holds
  std::uint32_t count = 0;
  const char* end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, count);
  const bool has_unit = error == std::errc() && unit + 1 == end && unit_of(*unit).count() > 0;
  if (!has_unit || count > kMost) {
    throw Error("'" + text + "' is no length of time; say 90s, 15m, 12h, 30d or 8w");
  }
  return count * unit_of(*unit);
}

}  // namespace clew::cli
