#include "server/cron_schedule.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

#include <clew/error.hpp>

namespace clew::server {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};

struct FieldRange {
  std::string_view name;
  int least;
  int most;
  std::span<const std::string_view> words = {};  // the first stands for `least`
};

constexpr FieldRange kMinute{"minute", 0, 59};
constexpr FieldRange kHour{"hour", 0, 23};
constexpr FieldRange kDay{"day of month", 1, 31};
const FieldRange kMonth{"month", 1, 12, kMonths};
const FieldRange kWeekday{"day of week", 0, 7, kWeekdays};

[[noreturn]] void fail(const FieldRange& range, std::string_view text) {
  throw ValueError("'" + std::string(text) + "' is no " + std::string(range.name) + " (" +
                   std::to_string(range.least) + " to " + std::to_string(range.most) + ")");
}

bool is_same_word(std::string_view word, std::string_view text) {
  return std::equal(word.begin(), word.end(), text.begin(), text.end(), [](char a, char b) {
    return a == std::tolower(static_cast<unsigned char>(b));
  });
}

int parse_number(const FieldRange& range, std::string_view text) {
  for (std::size_t i = 0; i < range.words.size(); ++i) {
    if (is_same_word(range.words[i], text)) return range.least + static_cast<int>(i);
  }
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) fail(range, text);
  if (number < range.least || number > range.most) fail(range, text);
  return number;
}

// "*", "5", "1-5", each with "/2" behind it. "5/2" goes from 5 on.
template <std::size_t N>
void add_part(const FieldRange& range, std::string_view part, std::bitset<N>& bits) {
  const std::size_t slash = part.find('/');
  const std::string_view base = part.substr(0, slash);
  int step = 1;
  if (slash != std::string_view::npos) {
    const FieldRange steps{range.name, 1, range.most};
    step = parse_number(steps, part.substr(slash + 1));
  }
  int first = range.least;
  int last = range.most;
  if (base != "*") {
    const std::size_t dash = base.find('-');
    first = parse_number(range, base.substr(0, dash));
    if (dash != std::string_view::npos) {
      last = parse_number(range, base.substr(dash + 1));
    } else if (slash == std::string_view::npos) {
      last = first;
    }
    if (last < first) fail(range, part);
  }
  for (int value = first; value <= last; value += step) {
    bits.set(static_cast<std::size_t>(value) % N);
  }
}

template <std::size_t N>
std::bitset<N> parse_field(const FieldRange& range, std::string_view text) {
  std::bitset<N> bits;
  while (true) {
    const std::size_t comma = text.find(',');
    add_part(range, text.substr(0, comma), bits);
    if (comma == std::string_view::npos) return bits;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string_view> split(std::string_view text) {
  constexpr std::string_view kSpaces = " \t";
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) return fields;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
    fields.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

}  // namespace

CronSchedule CronSchedule::parse(std::string_view text) {
  const std::vector<std::string_view> fields = split(text);
  if (fields.size() != 5) {
    throw ValueError("a schedule has five fields: minute, hour, day of month, month, day of week");
  }
  CronSchedule schedule;
  schedule.minutes_ = parse_field<60>(kMinute, fields[0]);
  schedule.hours_ = parse_field<24>(kHour, fields[1]);
  schedule.days_ = parse_field<32>(kDay, fields[2]);
  schedule.months_ = parse_field<13>(kMonth, fields[3]);
  schedule.weekdays_ = parse_field<7>(kWeekday, fields[4]);
  schedule.is_any_day_ = fields[2].starts_with('*');
  schedule.is_any_weekday_ = fields[4].starts_with('*');
  return schedule;
}

bool CronSchedule::has_day(std::chrono::year_month_day date) const {
  if (!months_[static_cast<unsigned>(date.month())]) return false;
  const bool is_day = days_[static_cast<unsigned>(date.day())];
  const std::chrono::weekday weekday{std::chrono::sys_days(date)};
  const bool is_weekday = weekdays_[weekday.c_encoding()];
  if (is_any_day_ || is_any_weekday_) return is_day && is_weekday;
  return is_day || is_weekday;
}

std::optional<Time> CronSchedule::next_after(Time time, const TimeZone& zone) const {
  using namespace std::chrono;
  // Dates repeat with weekdays and leap years after 28 years; centuries may skip one more.
  constexpr int kMostDays = 366 * 41;
  const sys_seconds after = floor<minutes>(time);
  const local_seconds local(after.time_since_epoch() + zone.offset_at(after));
  const local_days first_day = floor<days>(local);
  for (int i = 0; i < kMostDays; ++i) {
    const local_days day = first_day + days(i);
    if (!has_day(year_month_day(sys_days(day.time_since_epoch())))) continue;
    for (std::size_t hour = 0; hour < 24; ++hour) {
      if (!hours_[hour]) continue;
      for (std::size_t minute = 0; minute < 60; ++minute) {
        if (!minutes_[minute]) continue;
        const sys_seconds due = zone.to_sys(day + hours(hour) + minutes(minute));
        if (due > after) return Time(due);
      }
    }
  }
  return std::nullopt;
}

}  // namespace clew::server
