// Five fields that say when something repeats: minute, hour, day of month, month,
// day of week.
//
//   auto schedule = CronSchedule::parse("*/5 9-17 * * MON-FRI");
//   auto zone = TimeZone::load("Europe/Paris");
//   std::optional<Time> next = schedule.next_after(now, *zone);
//
// A field is a list of *, numbers, ranges and steps; months and days may be named,
// Sunday is 0 or 7. If both days are restricted, either of them is enough. Times
// that a clock change skips fire when it is over, those that it repeats fire once.
#pragma once

#include <bitset>
#include <optional>
#include <string_view>

#include "server/records.hpp"
#include "server/time_zone.hpp"

namespace clew::server {

class CronSchedule {
 public:
  // Throws ValueError that names the field.
  static CronSchedule parse(std::string_view text);

  // Nothing if there is no such time in the next years: "0 0 30 2 *".
  std::optional<Time> next_after(Time time, const TimeZone& zone) const;

 private:
  bool has_day(std::chrono::year_month_day date) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;     // from 1
  std::bitset<13> months_;   // from 1
  std::bitset<7> weekdays_;  // from Sunday
  bool is_any_day_ = false;
  bool is_any_weekday_ = false;
};

}  // namespace clew::server
