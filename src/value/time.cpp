#include <clew/time.hpp>

#include <array>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

namespace clew {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::year_month_day;

namespace {

constexpr microseconds kDay = days(1);
constexpr year_month_day kFirstDate = std::chrono::year(1) / 1 / 1;
constexpr year_month_day kLastDate = std::chrono::year(9999) / 12 / 31;

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return fmt::format("'{}{}'", text.substr(0, kShown), text.size() > kShown ? "..." : "");
}

year_month_day make_date(std::int64_t year, std::int64_t month, std::int64_t day) {
  const auto within = [](std::int64_t number, std::int64_t min, std::int64_t max) {
    return number >= min && number <= max;
  };
  if (within(year, 1, 9999) && within(month, 1, 12) && within(day, 1, 31)) {
    const auto date =
        std::chrono::year(static_cast<int>(year)) / static_cast<int>(month) / static_cast<int>(day);
    if (date.ok()) return date;
  }
  throw ValueError(
      fmt::format("there is no date {:04}-{:02}-{:02} in the years 1 to 9999", year, month, day));
}

void add_digits(std::string& text, std::int64_t number, std::size_t width) {
  char digits[20];
  char* first = std::end(digits);
  for (; width > 0; --width, number /= 10) *--first = static_cast<char>('0' + number % 10);
  text.append(first, std::end(digits));
}

void add_time(std::string& text, microseconds time) {
  const std::chrono::hh_mm_ss parts(time);
  add_digits(text, parts.hours().count(), 2);
  text += ':';
  add_digits(text, parts.minutes().count(), 2);
  text += ':';
  add_digits(text, parts.seconds().count(), 2);
  const auto fraction = parts.subseconds().count();
  if (fraction == 0) return;
  text += '.';
  add_digits(text, fraction, 6);
}

void add_offset(std::string& text, microseconds offset) {
  const microseconds distance = std::chrono::abs(offset);
  text += offset < microseconds(0) ? '-' : '+';
  const std::size_t seconds_begin = text.size() + std::string_view("00:00").size();
  add_time(text, distance);
  if (distance % minutes(1) == microseconds(0)) text.resize(seconds_begin);
}

// Reads a time from the front of its text. After the first mismatch nothing is
// accepted any more, so that it is enough to ask once, at the end.
class TimeScanner {
 public:
  explicit TimeScanner(std::string_view text) : rest_(text) {}

  bool failed() const { return failed_; }
  bool at_end() const { return failed_ || rest_.empty(); }

  // Takes one character out of `any`, or none.
  char accept(std::string_view any) {
    if (at_end() || any.find(rest_.front()) == any.npos) return 0;
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }

  void expect(std::string_view any) {
    if (accept(any) == 0) failed_ = true;
  }

  int digits(std::size_t count, int limit) {
    int number = 0;
    for (std::size_t i = 0; i < count; ++i) number = number * 10 + digit();
    if (number >= limit) failed_ = true;
    return number;
  }

  // What is finer than a microsecond is dropped, as Python does.
  microseconds fraction() {
    int number = 0;
    std::size_t taken = 0;
    for (; taken == 0 || (!at_end() && is_digit(rest_.front())); ++taken) {
      const int next = digit();
      if (taken < 6) number = number * 10 + next;
    }
    for (; taken < 6; ++taken) number *= 10;
    return microseconds(number);
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  int digit() {
    if (at_end() || !is_digit(rest_.front())) {
      failed_ = true;
      return 0;
    }
    const int number = rest_.front() - '0';
    rest_.remove_prefix(1);
    return number;
  }

  std::string_view rest_;
  bool failed_ = false;
};

local_days scan_date(TimeScanner& scanner) {
  const int year = scanner.digits(4, 10000);
  scanner.expect("-");
  const int month = scanner.digits(2, 13);
  scanner.expect("-");
  const int day = scanner.digits(2, 32);
  return scanner.failed() ? local_days() : local_days(make_date(year, month, day));
}

microseconds scan_clock(TimeScanner& scanner) {
  microseconds time = hours(scanner.digits(2, 24));
  if (!scanner.accept(":")) return time;
  time += minutes(scanner.digits(2, 60));
  if (!scanner.accept(":")) return time;
  time += seconds(scanner.digits(2, 60));
  return scanner.accept(".,") ? time + scanner.fraction() : time;
}

std::optional<microseconds> scan_offset(TimeScanner& scanner) {
  if (scanner.accept("Zz")) return microseconds(0);
  const char sign = scanner.accept("+-");
  if (sign == 0) return std::nullopt;
  const microseconds distance = scan_clock(scanner);
  return sign == '-' ? -distance : distance;
}

}  // namespace

std::chrono::sys_time<microseconds> DateTime::utc() const {
  return std::chrono::sys_time<microseconds>(local.time_since_epoch() -
                                             utc_offset.value_or(microseconds(0)));
}

std::string format_time(const DateTime& time) {
  // Compared as days: year_month_day wraps around long before microseconds do.
  const auto day = std::chrono::floor<days>(time.local);
  if (day < local_days(kFirstDate) || day > local_days(kLastDate)) {
    throw ValueError("the time cannot be stored: the years are 1 to 9999");
  }
  const year_month_day date(day);
  std::string text;
  text.reserve(std::string_view("2024-05-06T07:08:09.123456+00:00").size());
  add_digits(text, static_cast<int>(date.year()), 4);
  text += '-';
  add_digits(text, static_cast<unsigned>(date.month()), 2);
  text += '-';
  add_digits(text, static_cast<unsigned>(date.day()), 2);
  text += 'T';
  add_time(text, time.local - day);
  if (!time.utc_offset) return text;
  if (std::chrono::abs(*time.utc_offset) >= kDay) {
    throw ValueError("the offset of a time from UTC must be less than 24 hours");
  }
  add_offset(text, *time.utc_offset);
  return text;
}

DateTime parse_datetime(std::string_view text) {
  TimeScanner scanner(text);
  DateTime time;
  time.local = scan_date(scanner);
  if (!scanner.at_end()) {
    scanner.expect("Tt ");
    time.local += scan_clock(scanner);
    time.utc_offset = scan_offset(scanner);
  }
  if (!scanner.failed() && scanner.at_end()) return time;
  throw ValueError("expected an ISO 8601 time such as 2024-05-06T07:08:09+00:00, found " +
                   quoted(text));
}

Value to_value(const DateTime& time) {
  return make_extension(ExtensionCode::call_method, "datetime", "datetime", format_time(time),
                        "fromisoformat");
}

void from_value(const Value& value, DateTime& time) {
  const Value* text = &value;
  if (is_instance(value, "datetime", "datetime")) {
    const Extension extension = value.as_extension();
    if (extension.method == "fromisoformat") text = &extension.payload;
  }
  if (!text->is_string()) detail::throw_expected("datetime.datetime or ISO 8601 text", value);
  time = parse_datetime(text->as_string());
}

namespace detail {

namespace {

// The arguments of a datetime.`name`, or the same as a plain list: `Size`
// integers. Throws ValueError.
template <std::size_t Size>
std::array<std::int64_t, Size> read_integers(const Value& value, std::string_view name,
                                             std::string_view expected) {
  const Value& list = is_instance(value, "datetime", name) ? value.as_extension().payload : value;
  if (!list.is_list() || list.size() != Size) throw_expected(expected, value);
  std::array<std::int64_t, Size> integers;
  for (std::size_t i = 0; i < Size; ++i) {
    if (!list[i].is_int()) throw_expected(expected, value);
    integers[i] = list[i].as_int();
  }
  return integers;
}

}  // namespace

void throw_time_range(std::string_view what) {
  throw ValueError(fmt::format("{} is outside the range of its type", what));
}

Value timedelta_value(days whole_days, microseconds rest) {
  constexpr days kPythonLimit(999'999'999);
  // A floating point rest just below a day may have been rounded up to one.
  whole_days += std::chrono::floor<days>(rest);
  rest -= std::chrono::floor<days>(rest);
  if (whole_days < -kPythonLimit || whole_days > kPythonLimit) {
    throw ValueError("a datetime.timedelta holds at most 999999999 days");
  }
  const auto whole_seconds = std::chrono::floor<seconds>(rest);
  return make_extension(ExtensionCode::construct_args, "datetime", "timedelta",
                        list({static_cast<std::int64_t>(whole_days.count()),
                              static_cast<std::int64_t>(whole_seconds.count()),
                              static_cast<std::int64_t>((rest - whole_seconds).count())}));
}

microseconds read_timedelta(const Value& value) {
  const auto [day_count, second_count, microsecond_count] =
      read_integers<3>(value, "timedelta", "datetime.timedelta or [days, seconds, microseconds]");
  std::int64_t total = 0;
  if (__builtin_mul_overflow(day_count, std::int64_t{86400}, &total) ||
      __builtin_add_overflow(total, second_count, &total) ||
      __builtin_mul_overflow(total, std::int64_t{1'000'000}, &total) ||
      __builtin_add_overflow(total, microsecond_count, &total)) {
    throw_time_range("datetime.timedelta");
  }
  return microseconds(total);
}

Value date_value(const year_month_day& date) {
  const int year = static_cast<int>(date.year());
  const unsigned month = static_cast<unsigned>(date.month());
  const unsigned day = static_cast<unsigned>(date.day());
  make_date(year, month, day);
  return make_extension(ExtensionCode::construct_args, "datetime", "date",
                        list({year, month, day}));
}

year_month_day read_date(const Value& value) {
  constexpr std::size_t kDateTextSize = 10;
  if (value.is_string() && value.as_string().size() == kDateTextSize) {
    return year_month_day(
        local_days(std::chrono::floor<days>(parse_datetime(value.as_string()).local)));
  }
  const auto [year, month, day] =
      read_integers<3>(value, "date", "datetime.date, [year, month, day] or ISO 8601 text");
  return make_date(year, month, day);
}

}  // namespace detail
}  // namespace clew
