// Times, dates and durations: std::chrono types on the C++ side, Python's
// datetime, date and timedelta in a stored value.
//
//   struct Reminder {
//     std::chrono::sys_seconds due;          // datetime.datetime
//     std::chrono::minutes notice;           // datetime.timedelta
//     std::chrono::year_month_day booked;    // datetime.date
//   };
//   CLEW_JSON(Reminder, due, notice, booked)
//
//   format_time(std::chrono::system_clock::now());   // "2024-05-06T07:08:09.123456+00:00"
//   parse_time("2024-05-06T09:08:09+02:00");         // 07:08:09 UTC
//
// Stored times have microseconds and the years 1 to 9999. What a C++ type holds
// beyond that is cut off (rounded down) in either direction; what does not fit
// it is a ValueError. Each type is also read from its plain content as JSON
// shows it: the ISO text, [year, month, day], [days, seconds, microseconds].
//
// All functions may be called from any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <clew/extension.hpp>
#include <clew/value.hpp>

namespace clew {

// A time as its clock on the wall showed it, with that clock's distance from
// UTC if it is known. For programs that must keep the offset; others use
// std::chrono::sys_time, which is always UTC.
struct DateTime {
  std::chrono::local_time<std::chrono::microseconds> local{};
  // Less than 24 hours either way. Nothing: the time is "naive".
  std::optional<std::chrono::microseconds> utc_offset{};

  // The same moment in UTC. A naive time is taken as UTC already.
  std::chrono::sys_time<std::chrono::microseconds> utc() const;

  friend bool operator==(const DateTime&, const DateTime&) = default;
};

Value to_value(const DateTime& time);
void from_value(const Value& value, DateTime& time);

// The text of Python's isoformat(): the fraction is left out when it is zero,
// the offset when there is none. Throws ValueError for years past 1 to 9999.
std::string format_time(const DateTime& time);

// Reads "2024-05-06", "2024-05-06T07:08", "2024-05-06 07:08:09.123",
// each with "Z", "+02:00" or nothing after the time. Throws ValueError.
DateTime parse_datetime(std::string_view text);

namespace detail {

using Microseconds = std::chrono::microseconds;

// A length of time as Python keeps it: `rest` is from 0 up to one day.
Value timedelta_value(std::chrono::days days, Microseconds rest);
Microseconds read_timedelta(const Value& value);

Value date_value(const std::chrono::year_month_day& date);
std::chrono::year_month_day read_date(const Value& value);

[[noreturn]] void throw_time_range(std::string_view what);

// `from` rounded down to To. Compared as long double, since the limits of one
// integer duration may overflow another.
template <class To, class Rep, class Period>
To convert_duration(const std::chrono::duration<Rep, Period>& from, std::string_view what) {
  using Wide = std::chrono::duration<long double, typename To::period>;
  const Wide wide(from);
  if (!(wide >= Wide(To::min()) && wide <= Wide(To::max()))) throw_time_range(what);
  if constexpr (std::chrono::treat_as_floating_point_v<typename To::rep>) {
    return std::chrono::duration_cast<To>(from);
  } else {
    return std::chrono::floor<To>(from);
  }
}

template <class Duration>
DateTime utc_datetime(const std::chrono::sys_time<Duration>& time) {
  const auto since_epoch = convert_duration<Microseconds>(time.time_since_epoch(), "the time");
  return {std::chrono::local_time<Microseconds>(since_epoch), Microseconds(0)};
}

}  // namespace detail

// As format_time(DateTime), with the offset +00:00.
template <class Duration>
std::string format_time(const std::chrono::sys_time<Duration>& time) {
  return format_time(detail::utc_datetime(time));
}

// As parse_datetime(), in UTC; text without an offset is taken as UTC.
inline std::chrono::sys_time<std::chrono::microseconds> parse_time(std::string_view text) {
  return parse_datetime(text).utc();
}

template <class Duration>
struct Converter<std::chrono::time_point<std::chrono::system_clock, Duration>> {
  using Time = std::chrono::sys_time<Duration>;

  static Value to_value(const Time& time) { return clew::to_value(detail::utc_datetime(time)); }
  static Time from_value(const Value& value) {
    DateTime stored;
    clew::from_value(value, stored);
    const auto since_epoch = stored.utc().time_since_epoch();
    return Time(detail::convert_duration<Duration>(since_epoch, expectation()));
  }
  static std::string_view expectation() { return "datetime.datetime"; }
};

template <class Rep, class Period>
struct Converter<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;

  static Value to_value(const Duration& duration) {
    const auto days = detail::convert_duration<std::chrono::days>(duration, "the duration");
    return detail::timedelta_value(days, std::chrono::floor<detail::Microseconds>(duration - days));
  }
  static Duration from_value(const Value& value) {
    return detail::convert_duration<Duration>(detail::read_timedelta(value), expectation());
  }
  static std::string_view expectation() { return "datetime.timedelta"; }
};

template <>
struct Converter<std::chrono::year_month_day> {
  static Value to_value(const std::chrono::year_month_day& date) {
    return detail::date_value(date);
  }
  static std::chrono::year_month_day from_value(const Value& value) {
    return detail::read_date(value);
  }
  static std::string_view expectation() { return "datetime.date"; }
};

}  // namespace clew
