#include "server/time_zone.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <clew/error.hpp>

namespace clew::server {
namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr const char* kFolder = "/usr/share/zoneinfo";

// Reads big-endian numbers off the front.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw ValueError("the zoneinfo file ends too early");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::int64_t number(std::size_t size) {
    const std::string_view bytes = take(size);
    std::uint64_t value = static_cast<unsigned char>(bytes[0]) & 0x80U ? ~std::uint64_t{0} : 0;
    for (const char byte : bytes) value = (value << 8) | static_cast<unsigned char>(byte);
    return static_cast<std::int64_t>(value);
  }
  std::size_t count() {
    const std::int64_t value = number(4);
    constexpr std::int64_t kMost = 100'000;
    if (value < 0 || value > kMost) throw ValueError("the zoneinfo file has a wrong count");
    return static_cast<std::size_t>(value);
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

struct Header {
  char version = 0;
  std::size_t is_utc, is_standard, leaps, times, types, chars;
};

Header read_header(Bytes& bytes) {
  if (bytes.take(4) != "TZif") throw ValueError("this is no zoneinfo file");
  Header header;
  header.version = bytes.take(1)[0];
  bytes.take(15);
  header.is_utc = bytes.count();
  header.is_standard = bytes.count();
  header.leaps = bytes.count();
  header.times = bytes.count();
  header.types = bytes.count();
  header.chars = bytes.count();
  return header;
}

// A zone as POSIX writes it: "CET-1CEST,M3.5.0,M10.5.0/3".
class Footer {
 public:
  explicit Footer(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void name() {
    if (take('<')) {
      while (!rest_.empty() && !take('>')) rest_.remove_prefix(1);
      return;
    }
    while (!rest_.empty() && std::isalpha(static_cast<unsigned char>(rest_.front()))) {
      rest_.remove_prefix(1);
    }
  }
  int number() {
    int value = 0;
    if (rest_.empty() || !std::isdigit(static_cast<unsigned char>(rest_.front()))) {
      throw ValueError("the zoneinfo file has a wrong rule");
    }
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front()))) {
      value = value * 10 + (rest_.front() - '0');
      if (value > 1000) throw ValueError("the zoneinfo file has a wrong rule");
      rest_.remove_prefix(1);
    }
    return value;
  }
  seconds time() {
    const int sign = take('-') ? -1 : (take('+'), 1);
    seconds value = std::chrono::hours(number());
    if (take(':')) value += std::chrono::minutes(number());
    if (take(':')) value += seconds(number());
    return value * sign;
  }

 private:
  std::string_view rest_;
};

bool is_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || name.front() == '/' || name.front() == '.') return false;
  if (name.find("..") != std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '/' || c == '_' || c == '-' || c == '+';
  });
}

}  // namespace

std::optional<TimeZone> TimeZone::load(std::string_view name) {
  if (name == "UTC") return utc();
  if (!is_name(name)) return std::nullopt;
  const std::filesystem::path path = std::filesystem::path(kFolder) / name;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return parse(bytes);
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

// RFC 8536: a part with 32 bit times, and from version 2 on one with 64 bits, which
// counts, and a rule for the time after.
TimeZone TimeZone::parse(std::string_view content) {
  Bytes bytes(content);
  Header header = read_header(bytes);
  std::size_t width = 4;
  if (header.version >= '2') {
    bytes.take(header.times * 5 + header.types * 6 + header.chars + header.leaps * 8 +
               header.is_standard + header.is_utc);
    header = read_header(bytes);
    width = 8;
  }
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < header.times; ++i) times.push_back(bytes.number(width));
  const std::string_view kinds = bytes.take(header.times);
  std::vector<seconds> offsets;
  for (std::size_t i = 0; i < header.types; ++i) {
    offsets.emplace_back(bytes.number(4));
    bytes.take(2);
  }
  if (offsets.empty()) throw ValueError("the zoneinfo file has no offset");
  TimeZone zone;
  zone.first_ = offsets.front();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto kind = static_cast<unsigned char>(kinds[i]);
    if (kind >= offsets.size()) throw ValueError("the zoneinfo file has a wrong offset");
    zone.transitions_.push_back({times[i], offsets[kind]});
  }
  bytes.take(header.chars + header.leaps * (width + 4) + header.is_standard + header.is_utc);
  std::string_view footer = bytes.rest();
  if (width == 8 && footer.starts_with('\n')) {
    footer.remove_prefix(1);
    zone.parse_footer(footer.substr(0, footer.find('\n')));
  }
  return zone;
}

void TimeZone::parse_footer(std::string_view text) {
  if (text.empty()) return;
  Footer footer(text);
  footer.name();
  standard_ = -footer.time();
  has_footer_ = true;
  if (footer.empty()) return;
  footer.name();
  daylight_ = standard_ + std::chrono::hours(1);
  if (!footer.empty() && !footer.take(',')) {
    daylight_ = -footer.time();
    if (!footer.take(',')) return;
  }
  has_daylight_ = true;
  for (Rule* rule : {&begin_, &end_}) {
    if (rule == &end_ && !footer.take(',')) throw ValueError("the zoneinfo file has half a rule");
    if (footer.take('M')) {
      rule->month = footer.number();
      footer.take('.');
      rule->week = footer.number();
      footer.take('.');
      rule->day = footer.number();
      if (rule->month < 1 || rule->month > 12 || rule->week < 1 || rule->week > 5 ||
          rule->day > 6) {
        throw ValueError("the zoneinfo file has a wrong rule");
      }
    } else {
      rule->skips_leap_day = footer.take('J');
      rule->day = footer.number();
    }
    if (footer.take('/')) rule->time = footer.time();
  }
}

local_seconds TimeZone::rule_time(const Rule& rule, std::chrono::year year) {
  using namespace std::chrono;
  if (rule.week == 0) {
    int day = rule.day;
    if (rule.skips_leap_day) day = day - 1 + (year.is_leap() && rule.day >= 60 ? 1 : 0);
    return local_days(year / January / 1) + days(day) + rule.time;
  }
  const month in(static_cast<unsigned>(rule.month));
  const weekday on(static_cast<unsigned>(rule.day));
  const local_days date = rule.week == 5
                              ? local_days(year / in / on[last])
                              : local_days(year / in / on[static_cast<unsigned>(rule.week)]);
  return date + rule.time;
}

seconds TimeZone::offset_by_rule(sys_seconds time) const {
  if (!has_daylight_) return standard_;
  const auto local = local_seconds(time.time_since_epoch() + standard_);
  const auto year = std::chrono::year_month_day(std::chrono::floor<days>(local)).year();
  const auto begin = sys_seconds(rule_time(begin_, year).time_since_epoch() - standard_);
  const auto end = sys_seconds(rule_time(end_, year).time_since_epoch() - daylight_);
  const bool is_daylight = begin < end ? time >= begin && time < end : time >= begin || time < end;
  return is_daylight ? daylight_ : standard_;
}

seconds TimeZone::offset_at(sys_seconds time) const {
  const std::int64_t at = time.time_since_epoch().count();
  const auto next = std::upper_bound(
      transitions_.begin(), transitions_.end(), at,
      [](std::int64_t wanted, const Transition& transition) { return wanted < transition.since; });
  if (next == transitions_.end() && has_footer_) return offset_by_rule(time);
  return next == transitions_.begin() ? first_ : std::prev(next)->offset;
}

// The offset is that of a moment near by, at most a day away on either side.
sys_seconds TimeZone::to_sys(local_seconds local) const {
  const auto since_epoch = local.time_since_epoch();
  const seconds before = offset_at(sys_seconds(since_epoch) - days(1));
  const seconds after = offset_at(sys_seconds(since_epoch) + days(1));
  const sys_seconds early(since_epoch - std::max(before, after));
  if (offset_at(early) == std::max(before, after)) return early;
  const sys_seconds late(since_epoch - std::min(before, after));
  if (offset_at(late) == std::min(before, after)) return late;
  // Skipped: the first moment after the jump.
  sys_seconds low = early;
  sys_seconds high = late;
  while (high - low > seconds(1)) {
    const sys_seconds middle = low + (high - low) / 2;
    (offset_at(middle) == before ? low : high) = middle;
  }
  return high;
}

}  // namespace clew::server
