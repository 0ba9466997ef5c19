#include <clew/time.hpp>

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <clew/canonical.hpp>
#include <clew/json.hpp>

namespace clew {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::local_days;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::sys_time;
using std::chrono::year_month_day;

constexpr year_month_day kMay6 = 2024y / 5 / 6;
constexpr sys_seconds kMorning = sys_days(kMay6) + 7h + 8min + 9s;

std::string render(const Value& value) { return to_json(canonical(value), {.spaced = true}); }

// The reason of the ValueError that `call` throws, or what it returned instead.
template <class Call>
std::string reason(Call call) {
  try {
    return "no error: " + render(Value(call()));
  } catch (const ValueError& error) {
    return error.reason();
  }
}

std::string reparse(std::string_view text) { return format_time(parse_datetime(text)); }

TEST(Time, FormatsAsPythonsIsoformat) {
  EXPECT_EQ(format_time(kMorning), "2024-05-06T07:08:09+00:00");
  EXPECT_EQ(format_time(kMorning + 123456us), "2024-05-06T07:08:09.123456+00:00");
  EXPECT_EQ(format_time(kMorning + 1us), "2024-05-06T07:08:09.000001+00:00");
  EXPECT_EQ(format_time(kMorning + 1500ns), "2024-05-06T07:08:09.000001+00:00");
  EXPECT_EQ(format_time(sys_days(kMay6)), "2024-05-06T00:00:00+00:00");
  EXPECT_EQ(format_time(sys_seconds(-1s)), "1969-12-31T23:59:59+00:00");
  EXPECT_EQ(format_time(sys_time<nanoseconds>(-1ns)), "1969-12-31T23:59:59.999999+00:00");
  EXPECT_EQ(format_time(sys_days(1y / 1 / 1)), "0001-01-01T00:00:00+00:00");
}

TEST(Time, FormatsOffsetsAsPythonsIsoformat) {
  const auto local = local_days(kMay6) + 7h + 8min + 9s;
  EXPECT_EQ(format_time(DateTime{local, {}}), "2024-05-06T07:08:09");
  EXPECT_EQ(format_time(DateTime{local, 0h}), "2024-05-06T07:08:09+00:00");
  EXPECT_EQ(format_time(DateTime{local, -7h}), "2024-05-06T07:08:09-07:00");
  EXPECT_EQ(format_time(DateTime{local, 5h + 30min}), "2024-05-06T07:08:09+05:30");
  EXPECT_EQ(format_time(DateTime{local, -(0h + 0min + 1s)}), "2024-05-06T07:08:09-00:00:01");
  EXPECT_EQ(format_time(DateTime{local, 1h + 5us}), "2024-05-06T07:08:09+01:00:00.000005");
  EXPECT_EQ(reason([&] { return format_time(DateTime{local, 24h}); }),
            "the offset of a time from UTC must be less than 24 hours");
}

TEST(Time, RefusesYearsThatPythonDoesNotHave) {
  const std::string refusal = "the time cannot be stored: the years are 1 to 9999";
  EXPECT_EQ(format_time(sys_days(9999y / 12 / 31)), "9999-12-31T00:00:00+00:00");
  EXPECT_EQ(reason([] { return format_time(sys_days(10000y / 1 / 1)); }), refusal);
  EXPECT_EQ(reason([] { return format_time(sys_days(1y / 1 / 1) - 1us); }), refusal);
  // The year 66000, which in 16 bits would be 464.
  EXPECT_EQ(reason([] { return format_time(sys_days(days(23'387'000))); }), refusal);
  EXPECT_EQ(reason([] { return format_time(sys_time<microseconds>::max()); }), refusal);
  EXPECT_EQ(reason([] { return format_time(sys_time<microseconds>::min()); }), refusal);
  EXPECT_EQ(reason([] { return format_time(sys_time<std::chrono::hours>::max()); }),
            "the time is outside the range of its type");
}

TEST(Time, ReadsIsoText) {
  EXPECT_EQ(reparse("2024-05-06T07:08:09"), "2024-05-06T07:08:09");
  EXPECT_EQ(reparse("2024-05-06"), "2024-05-06T00:00:00");
  EXPECT_EQ(reparse("2024-05-06T07"), "2024-05-06T07:00:00");
  EXPECT_EQ(reparse("2024-05-06T07:08"), "2024-05-06T07:08:00");
  EXPECT_EQ(reparse("2024-05-06 07:08:09+00:00"), "2024-05-06T07:08:09+00:00");
  EXPECT_EQ(reparse("1970-01-01T00:00:00.000Z"), "1970-01-01T00:00:00+00:00");
  EXPECT_EQ(reparse("2026-11-15T21:24:25.294Z"), "2026-11-15T21:24:25.294000+00:00");
  EXPECT_EQ(reparse("2024-05-06T07:08:09,5-07:00"), "2024-05-06T07:08:09.500000-07:00");
  EXPECT_EQ(reparse("2024-05-06T07:08:09.1234567899+02"), "2024-05-06T07:08:09.123456+02:00");
  EXPECT_EQ(reparse("2024-05-06T07:08:09-00:00:01.000005"), "2024-05-06T07:08:09-00:00:01.000005");
  EXPECT_EQ(reparse("9999-12-31T23:59:59.999999"), "9999-12-31T23:59:59.999999");
}

TEST(Time, RefusesWhatIsNoTime) {
  for (std::string_view text : {"",
                                "x",
                                "2024",
                                "2024-05",
                                "24-05-06",
                                "2024-5-6",
                                "2024/05/06",
                                "2024-13-01",
                                "2024-00-01",
                                "2024-05-06T",
                                "2024-05-06T24:00",
                                "2024-05-06T07:60",
                                "2024-05-06T07:08:60",
                                "2024-05-06T07:08:09.",
                                "2024-05-06T07:08:",
                                "2024-05-06T07:08:09+",
                                "2024-05-06T07:08:09Z ",
                                "2024-05-06T07:08:09+24:00",
                                "2024-05-06X07:08:09",
                                "2024-05-06Z",
                                " 2024-05-06",
                                "-024-05-06",
                                "2024-05-06T07:08:0a"}) {
    EXPECT_THROW(parse_datetime(text), ValueError) << text;
  }
  EXPECT_EQ(reason([] { return parse_datetime("noon"); }),
            "expected an ISO 8601 time such as 2024-05-06T07:08:09+00:00, found 'noon'");
  EXPECT_EQ(reason([] { return parse_datetime("2023-02-29T00:00:00"); }),
            "there is no date 2023-02-29 in the years 1 to 9999");
  EXPECT_EQ(reason([] { return parse_datetime("0000-01-01"); }),
            "there is no date 0000-01-01 in the years 1 to 9999");
}

TEST(Time, ParsesToUtc) {
  EXPECT_EQ(parse_time("2024-05-06T09:08:09+02:00"), kMorning);
  EXPECT_EQ(parse_time("2024-05-06T00:08:09-07:00"), kMorning);
  EXPECT_EQ(parse_time("2024-05-06T07:08:09"), kMorning);
  EXPECT_EQ(parse_time("2024-05-06T07:08:09.5Z"), kMorning + 500ms);
}

TEST(Time, PointsAreDatetimes) {
  EXPECT_EQ(render(Value(kMorning)),
            R"({"$ext": 3, "module": "datetime", "name": "datetime", )"
            R"("arg": "2024-05-06T07:08:09+00:00", "method": "fromisoformat"})");
  EXPECT_EQ(Value(kMorning + 5us).get<sys_time<microseconds>>(), kMorning + 5us);
  EXPECT_EQ(Value(kMorning + 5ns).get<sys_time<nanoseconds>>(), kMorning);
  EXPECT_EQ(Value(kMorning + 999999us).get<sys_seconds>(), kMorning);
  EXPECT_EQ(Value(sys_seconds(-1s)).get<sys_days>(), sys_days(1969y / 12 / 31));
  EXPECT_EQ(Value("2024-05-06T09:08:09+02:00").get<sys_seconds>(), kMorning);
}

TEST(Time, DateTimeKeepsItsOffset) {
  for (std::string_view text :
       {"2024-05-06T07:08:09", "2024-05-06T07:08:09.000001-07:00", "2024-10-27T02:30:00+01:00"}) {
    const Value value =
        make_extension(ExtensionCode::call_method, "datetime", "datetime", text, "fromisoformat");
    EXPECT_EQ(Value(value.get<DateTime>()), value) << text;
  }
}

TEST(Time, RefusesOtherValuesAsTimes) {
  EXPECT_EQ(reason([] { return Value(5).get<sys_seconds>(); }),
            "expected datetime.datetime or ISO 8601 text, found int");
  const Value strptime =
      make_extension(ExtensionCode::call_method, "datetime", "datetime", "2024-01-01", "strptime");
  EXPECT_EQ(reason([&] { return strptime.get<sys_seconds>(); }),
            "expected datetime.datetime or ISO 8601 text, found datetime.datetime");
  EXPECT_EQ(reason([] { return Value("1600-01-01").get<sys_time<nanoseconds>>(); }),
            "datetime.datetime is outside the range of its type");
}

TEST(Time, DurationsAreTimedeltas) {
  EXPECT_EQ(render(Value(days(1) + 2s + 3us)),
            R"({"$ext": 1, "module": "datetime", "name": "timedelta", "args": [1, 2, 3]})");
  EXPECT_EQ(render(Value(seconds(-1))),
            R"({"$ext": 1, "module": "datetime", "name": "timedelta", "args": [-1, 86399, 0]})");
  const auto args = [](auto duration) { return to_json(Value(duration).as_extension().payload); };
  EXPECT_EQ(args(0s), "[0,0,0]");
  EXPECT_EQ(args(-1us), "[-1,86399,999999]");
  EXPECT_EQ(args(-1ns), "[-1,86399,999999]");
  EXPECT_EQ(args(36h), "[1,43200,0]");
  EXPECT_EQ(args(1500ms), "[0,1,500000]");
  EXPECT_EQ(args(std::chrono::duration<double>(2.5)), "[0,2,500000]");
  EXPECT_EQ(args(std::chrono::duration<double>(-1e-13)), "[0,0,0]");
  EXPECT_EQ(args(days(999'999'999)), "[999999999,0,0]");
}

TEST(Time, ReadsTimedeltas) {
  EXPECT_EQ(Value(-1500ms).get<milliseconds>(), -1500ms);
  EXPECT_EQ(Value(-1500ms).get<seconds>(), -2s);
  EXPECT_EQ(Value(90s).get<std::chrono::duration<double>>().count(), 90.0);
  EXPECT_EQ(list({1, 2, 3}).get<microseconds>(), days(1) + 2s + 3us);
  EXPECT_EQ(list({0, 0, -3}).get<microseconds>(), -3us);
}

TEST(Time, RefusesDurationsThatDoNotFit) {
  EXPECT_EQ(reason([] { return Value(days(1'000'000'000)); }),
            "a datetime.timedelta holds at most 999999999 days");
  EXPECT_EQ(reason([] { return Value(std::chrono::hours::max()); }),
            "a datetime.timedelta holds at most 999999999 days");
  EXPECT_EQ(reason([] { return Value(std::chrono::years::max()); }),
            "the duration is outside the range of its type");
  EXPECT_EQ(reason([] {
              return Value(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()));
            }),
            "the duration is outside the range of its type");
  EXPECT_EQ(reason([] { return Value(days(200'000)).get<nanoseconds>(); }),
            "datetime.timedelta is outside the range of its type");
  EXPECT_EQ(reason([] { return Value(days(999'999'999)).get<microseconds>(); }),
            "datetime.timedelta is outside the range of its type");
  using Short = std::chrono::duration<std::int8_t>;
  EXPECT_EQ(Value(127s).get<Short>().count(), 127);
  EXPECT_EQ(reason([] { return Value(128s).get<Short>(); }),
            "datetime.timedelta is outside the range of its type");
  EXPECT_EQ(reason([] { return list({1, 2}).get<seconds>(); }),
            "expected datetime.timedelta or [days, seconds, microseconds], found list");
  EXPECT_EQ(reason([] { return list({1, 2, 2.5}).get<seconds>(); }),
            "expected datetime.timedelta or [days, seconds, microseconds], found list");
}

TEST(Time, CalendarDaysAreDates) {
  EXPECT_EQ(render(Value(2024y / 2 / 29)),
            R"({"$ext": 1, "module": "datetime", "name": "date", "args": [2024, 2, 29]})");
  EXPECT_EQ(Value(2024y / 2 / 29).get<year_month_day>(), 2024y / 2 / 29);
  EXPECT_EQ(list({1, 1, 1}).get<year_month_day>(), 1y / 1 / 1);
  EXPECT_EQ(Value("2024-02-29").get<year_month_day>(), 2024y / 2 / 29);
  EXPECT_EQ(reason([] { return Value(2023y / 2 / 29); }),
            "there is no date 2023-02-29 in the years 1 to 9999");
  EXPECT_EQ(reason([] { return list({2024, 13, 1}).get<year_month_day>(); }),
            "there is no date 2024-13-01 in the years 1 to 9999");
  EXPECT_EQ(reason([] { return Value("2024-02-29T00:00").get<year_month_day>(); }),
            "expected datetime.date, [year, month, day] or ISO 8601 text, found string");
}

struct Reminder {
  sys_seconds due;
  std::chrono::minutes notice;
  year_month_day booked;
};
CLEW_JSON(Reminder, due, notice, booked)

TEST(Time, WorksInsideStructs) {
  const Reminder reminder{kMorning, 90min, kMay6};
  const Value value = reminder;
  EXPECT_EQ(to_json(value),
            R"({"due":"2024-05-06T07:08:09+00:00","notice":[0,5400,0],"booked":[2024,5,6]})");
  // The typed value and the plain one that JSON turns it into read the same.
  for (const Value& source : {value, parse_json(to_json(value))}) {
    const Reminder back = source.get<Reminder>();
    EXPECT_EQ(back.due, reminder.due);
    EXPECT_EQ(back.notice, reminder.notice);
    EXPECT_EQ(back.booked, reminder.booked);
  }
  try {
    value.set("due", "soon").get<Reminder>();
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_EQ(error.path(), "$.due");
  }
}

}  // namespace
}  // namespace clew
