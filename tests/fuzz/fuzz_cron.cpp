// Any text is a cron schedule or a ValueError; a schedule's next time is after the
// one it was asked for, on a whole minute, and the same when asked just before it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <clew/error.hpp>

#include "server/cron_schedule.hpp"

namespace {

void expect(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clew::server;
  if (size < 1) return 0;
  // The first byte chooses when it is asked for, the second half may be a zone.
  const Time time(std::chrono::hours(24 * 7 * 40 * std::int64_t{data[0]}));
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  TimeZone zone = TimeZone::utc();
  try {
    zone = TimeZone::parse(text);
  } catch (const clew::ValueError&) {
  }
  zone.offset_at(std::chrono::floor<std::chrono::seconds>(time));
  try {
    const CronSchedule schedule = CronSchedule::parse(text);
    const auto next = schedule.next_after(time, TimeZone::utc());
    if (!next) return 0;
    expect(*next > time, "the next time is not later");
    expect(next->time_since_epoch() % std::chrono::minutes(1) == std::chrono::microseconds(0),
           "the next time is not on a minute");
    expect(schedule.next_after(*next - std::chrono::minutes(1), TimeZone::utc()) == next,
           "the next time is another one when asked just before it");
  } catch (const clew::ValueError&) {
  }
  return 0;
}
