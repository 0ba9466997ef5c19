#include <clew/json.hpp>
#include <clew/time.hpp>

#include "server/cron_schedule.hpp"
#include "server/sqlite_repository.hpp"
#include "test_server.hpp"

namespace clew::server {
namespace {

std::string next(const char* schedule, const char* after, const char* zone = "UTC") {
  const auto found =
      CronSchedule::parse(schedule).next_after(parse_time(after), *TimeZone::load(zone));
  return found ? format_time(*found) : "never";
}

TEST(CronSchedule, FieldsListsRangesAndSteps) {
  EXPECT_EQ(next("*/5 * * * *", "2024-05-06T07:08:09"), "2024-05-06T07:10:00+00:00");
  EXPECT_EQ(next("0 3 * * *", "2024-05-06T03:00:00"), "2024-05-07T03:00:00+00:00");
  EXPECT_EQ(next("0 3 * * *", "2024-05-06T02:59:59"), "2024-05-06T03:00:00+00:00");
  EXPECT_EQ(next("15,45 9-17/4 * * *", "2024-05-06T10:00"), "2024-05-06T13:15:00+00:00");
  EXPECT_EQ(next("0 0 1 jan *", "2024-05-06"), "2025-01-01T00:00:00+00:00");
  EXPECT_EQ(next("0 9 * * MON-FRI", "2024-05-10T10:00"), "2024-05-13T09:00:00+00:00");
  EXPECT_EQ(next("0 0 * * 7", "2024-05-06"), "2024-05-12T00:00:00+00:00");
  EXPECT_EQ(next("0 0 29 2 *", "2024-03-01"), "2028-02-29T00:00:00+00:00");
  EXPECT_EQ(next("0 0 30 2 *", "2024-03-01"), "never");
  EXPECT_EQ(next("5/20 * * * *", "2024-05-06T07:26"), "2024-05-06T07:45:00+00:00");
}

TEST(CronSchedule, EitherDayIsEnoughIfBothAreGiven) {
  EXPECT_EQ(next("0 0 13 * fri", "2024-05-06"), "2024-05-10T00:00:00+00:00");
  EXPECT_EQ(next("0 0 13 * fri", "2024-05-11"), "2024-05-13T00:00:00+00:00");
}

TEST(CronSchedule, WhatIsNone) {
  for (const char* text : {"", "nonsense", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *",
                           "* * 0 * *", "* * * 13 *", "* * * * 8", "*/0 * * * *", "5-1 * * * *",
                           "1,, * * * *", "a * * * *", "-1 * * * *", "* * * foo *"}) {
    EXPECT_THROW(CronSchedule::parse(text), ValueError) << text;
  }
}

TEST(CronSchedule, TimeZones) {
  EXPECT_EQ(next("0 3 * * *", "2024-01-15", "Europe/Paris"), "2024-01-15T02:00:00+00:00");
  EXPECT_EQ(next("0 3 * * *", "2024-07-15", "Europe/Paris"), "2024-07-15T01:00:00+00:00");
  // By the rule at the end of the file, long after its last transition.
  EXPECT_EQ(next("0 3 * * *", "2060-07-15", "Europe/Paris"), "2060-07-15T01:00:00+00:00");
  EXPECT_EQ(next("0 3 * * *", "2060-01-15", "Australia/Sydney"), "2060-01-15T16:00:00+00:00");
  EXPECT_EQ(next("30 12 * * *", "2024-05-06", "Asia/Kolkata"), "2024-05-06T07:00:00+00:00");
}

TEST(CronSchedule, ClockChanges) {
  // 02:30 is skipped on 2024-03-31: it fires when the clocks have jumped.
  EXPECT_EQ(next("30 2 * * *", "2024-03-31T00:00", "Europe/Paris"), "2024-03-31T01:00:00+00:00");
  // 02:30 comes twice on 2024-10-27: it fires the first time.
  EXPECT_EQ(next("30 2 * * *", "2024-10-26T20:00", "Europe/Paris"), "2024-10-27T00:30:00+00:00");
  EXPECT_EQ(next("30 2 * * *", "2024-10-27T00:30", "Europe/Paris"), "2024-10-28T01:30:00+00:00");
}

TEST(TimeZones, NamesThatAreNone) {
  for (const char* name :
       {"", "Mars/Base", "../etc/passwd", "/etc/passwd", "Europe", "Europe/../x", "zone.tab"}) {
    EXPECT_FALSE(TimeZone::load(name)) << name;
  }
  EXPECT_THROW(TimeZone::parse("TZif"), ValueError);
}

struct CronClock {
  CronClock() {
    now = parse_time("2024-05-06T07:08:09");
    options.clock = [this] { return now; };
  }
  Time now;
  ServiceOptions options;
};

const char* const kBody = R"({"assistant_id": "seq", "schedule": "0 3 * * *",
                              "input": {"value": "c"}, "metadata": {"job": "nightly"}})";

TEST(Crons, AreKeptAndChanged) {
  CronClock clock;
  TestServer server(clock.options);
  CronService& crons = server.server->crons;
  const Value cron = crons.create(server.caller, "", parse_json(kBody));
  const std::string id = cron["cron_id"].get<std::string>();
  EXPECT_EQ(cron["next_run_date"], Value("2024-05-07T03:00:00.000000+00:00"));
  EXPECT_EQ(cron["on_run_completed"], Value("delete"));
  EXPECT_TRUE(cron["thread_id"].is_null());
  EXPECT_EQ(cron["payload"]["config"]["configurable"]["cron_id"], Value(id));
  const std::string thread_id = server.thread_id();
  const Value on_thread =
      crons.create(server.caller, thread_id,
                   parse_json(R"({"assistant_id": "seq", "schedule": "*/5 * * * *", "input": {},
                     "timezone": "Europe/Paris", "enabled": false})"));
  EXPECT_EQ(on_thread["thread_id"], Value(thread_id));
  EXPECT_TRUE(on_thread["on_run_completed"].is_null());
  EXPECT_EQ(crons.search(server.caller, object()).rows.size(), 2U);
  EXPECT_EQ(crons.search(server.caller, object({{"thread_id", thread_id}})).rows.size(), 1U);
  EXPECT_EQ(to_json(crons
                        .search(server.caller, parse_json(R"({"enabled": false,
                                                  "select": ["enabled"]})"))
                        .rows),
            R"([{"enabled":false}])");
  EXPECT_EQ(crons.count(server.caller, parse_json(R"({"metadata": {"job": "nightly"}})")), 1U);
  const Value patched =
      crons.patch(server.caller, id,
                  parse_json(R"({"schedule": "0 4 * * *", "end_time": "2024-05-07T00:00:00Z"})"));
  EXPECT_TRUE(patched["next_run_date"].is_null());
  EXPECT_EQ(patched["payload"]["schedule"], Value("0 4 * * *"));
  EXPECT_EQ(crons.patch(server.caller, id, parse_json(R"({"end_time": null})"))["next_run_date"],
            Value("2024-05-07T04:00:00.000000+00:00"));
  EXPECT_EQ(status_of([&] { crons.patch(server.caller, id, object()); }), 400);
  crons.remove(server.caller, id);
  EXPECT_EQ(status_of([&] { crons.get(server.caller, id); }), 404);
  EXPECT_EQ(status_of([&] { crons.remove(server.caller, id); }), 404);
}

TEST(Crons, Refusals) {
  TestServer server;
  const auto status = [&](const char* key, const Value& value) {
    return status_of(
        [&] { server.server->crons.create(server.caller, "", parse_json(kBody).set(key, value)); });
  };
  EXPECT_EQ(status("schedule", "nonsense"), 422);
  EXPECT_EQ(status("timezone", "Mars/Base"), 422);
  EXPECT_EQ(status("assistant_id", "nope"), 404);
  EXPECT_EQ(status("end_time", "soon"), 422);
}

TEST(Crons, FireOnceWhenTheyAreDue) {
  CronClock clock;
  TestServer server(clock.options);
  CronService& crons = server.server->crons;
  const std::string thread_id = server.thread_id();
  const Value cron = crons.create(server.caller, thread_id, parse_json(kBody));
  EXPECT_EQ(crons.fire_due(clock.now), 0U);
  // Three were missed: one fires.
  EXPECT_EQ(crons.fire_due(parse_time("2024-05-09T03:00:00")), 1U);
  EXPECT_EQ(crons.fire_due(parse_time("2024-05-09T03:00:00")), 0U);
  EXPECT_EQ(crons.get(server.caller, cron["cron_id"].get<std::string>())["next_run_date"],
            Value("2024-05-10T03:00:00.000000+00:00"));
  const Value runs = server.server->runs.list(server.caller, thread_id, {}, {});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0]["kwargs"]["config"]["configurable"]["cron_id"], cron["cron_id"]);
  EXPECT_EQ(server.join(thread_id, runs[0]["run_id"].get<std::string>())["value"], Value("cabc"));
}

TEST(Crons, TheClockFiresThem) {
  TestServer server;
  const auto soon = std::chrono::system_clock::now() + std::chrono::seconds(60);
  const std::string thread_id = server.thread_id();
  const Value cron = server.server->crons.create(server.caller, thread_id,
                                                 parse_json(kBody).set("schedule", "* * * * *"));
  EXPECT_LE(parse_time(cron["next_run_date"].as_string()), soon);
}

TEST(Crons, OneWhoseZoneIsGoneHoldsUpNobody) {
  TestServer server;
  const Value body = object(
      {{"assistant_id", "seq"}, {"input", object({{"value", "c"}})}, {"schedule", "0 0 1 1 *"}});
  Caller& caller = server.caller;
  const Value lost = server.server->crons.create(caller, "", body);
  const Value other = server.server->crons.create(caller, "", body);
  const auto repository = open_sqlite_repository(server.path);
  repository->write([&](Tables& tables) {
    auto cron = tables.crons().get(lost["cron_id"].as_string(), {});
    cron->timezone = "Atlantis/Capital";
    cron->next_run_date = *cron->next_run_date - std::chrono::hours(1);
    tables.crons().put(*cron);
  });
  const Time due = parse_time(other["next_run_date"].as_string());
  EXPECT_EQ(server.server->crons.fire_due(due), 2);
  EXPECT_EQ(server.server->crons.get(caller, lost["cron_id"].get<std::string>())["next_run_date"],
            Value());
}

}  // namespace
}  // namespace clew::server
