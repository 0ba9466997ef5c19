// A time zone of the IANA database, as the system's zoneinfo files have it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clew::server {

class TimeZone {
 public:
  using Seconds = std::chrono::seconds;

  static TimeZone utc() { return TimeZone(); }

  // Nothing if the name is none, or its file is not there or damaged.
  static std::optional<TimeZone> load(std::string_view name);

  // Of the content of a zoneinfo file. Throws ValueError.
  static TimeZone parse(std::string_view bytes);

  // How far the clocks are ahead of UTC at this time.
  Seconds offset_at(std::chrono::sys_seconds time) const;

  // When the clocks show this, the first time if they show it twice; if they
  // skip it, when they jump over it.
  std::chrono::sys_seconds to_sys(std::chrono::local_seconds local) const;

 private:
  // A rule such as "the last Sunday of March at 2:00".
  struct Rule {
    int month = 0;
    int week = 0;  // 1 to 5, 5 is the last; 0: `day` is of the year
    int day = 0;   // of the week from Sunday, or of the year
    bool skips_leap_day = false;
    Seconds time{7200};
  };

  void parse_footer(std::string_view text);
  Seconds offset_by_rule(std::chrono::sys_seconds time) const;
  static std::chrono::local_seconds rule_time(const Rule& rule, std::chrono::year year);

  // From `since` on, until the next one.
  struct Transition {
    std::int64_t since;
    Seconds offset;
  };
  Seconds first_{0};
  std::vector<Transition> transitions_;
  // After the last transition.
  bool has_footer_ = false;
  Seconds standard_{0};
  Seconds daylight_{0};
  bool has_daylight_ = false;
  Rule begin_, end_;
};

}  // namespace clew::server
