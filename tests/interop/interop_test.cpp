// The tool must be able to fail: a vector that is wrong in one place has to be
// reported, and what stands for refused Python values has to be what it says.
#include <filesystem>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <clew/canonical.hpp>
#include <clew/extension.hpp>
#include <clew/json.hpp>

#include "exchange.hpp"
#include "python_expression.hpp"
#include "random_value.hpp"
#include "recorded_database.hpp"
#include "vectors.hpp"

namespace clew::interop {
namespace {

using Runner = void (*)(const Value& vectors, Report& report);

std::string report_of(Runner run, const Value& vectors) {
  std::ostringstream out;
  Report report(out);
  run(vectors, report);
  report.finish();
  return out.str();
}

std::string report_of_json(Runner run, std::string_view json) {
  return report_of(run, parse_lenient_json(json));
}

// ---- Python expressions

std::string evaluated(std::string_view expression) {
  const Value value = evaluate_python(expression);
  if (const auto* unknown = unwrap<UnknownPythonObject>(value)) return "?" + unknown->expression;
  return to_json(canonical(value));
}

TEST(PythonExpression, Literals) {
  EXPECT_EQ(evaluated("None"), "null");
  EXPECT_EQ(evaluated(" [True, False] "), "[true,false]");
  EXPECT_EQ(evaluated("[1_000, 0xff, 1.5, -2e3]"),
            R"([1000,255,{"$float":"1.5"},{"$float":"-2000.0"}])");
  EXPECT_EQ(evaluated(R"(['a\n\x41\u00e9' "b", r'\d', '''it's'''])"), R"(["a\nA)"
                                                                      "\u00e9"
                                                                      R"(b","\\d","it's"])");
  EXPECT_EQ(evaluated(R"(b'\xff')"), R"({"$bytes":"ff"})");
}

TEST(PythonExpression, Arithmetic) {
  EXPECT_EQ(evaluated("2**64-1"), R"({"$int":"18446744073709551615"})");
  EXPECT_EQ(evaluated("-2**63-1"), R"({"$int":"-9223372036854775809"})");
  EXPECT_EQ(evaluated("[3*2**2-1, 1 << 5, -(-5), 10-3-2]"), "[11,32,5,5]");
  EXPECT_EQ(evaluated("10**400"), R"({"$int":"170141183460469231731687303715884105727"})");
}

TEST(PythonExpression, Containers) {
  EXPECT_EQ(evaluated("[(1), (1,), (), (1, [2],)]"), "[1,[1],[],[1,[2]]]");
  EXPECT_EQ(evaluated("{'a': 1, 'b': {}, }"), R"({"a":1,"b":{}})");
  EXPECT_EQ(evaluated("{1: 'x', (2, 3): None}"), R"({"$map":[[1,"x"],[[2,3],null]]})");
  EXPECT_EQ(evaluated("{1, 2}"), R"({"$ext":0,"module":"builtins","name":"set","arg":[1,2]})");
  EXPECT_EQ(evaluated("frozenset()"),
            R"({"$ext":0,"module":"builtins","name":"frozenset","arg":[]})");
  EXPECT_EQ(evaluated("deque([1], maxlen=2)"),
            R"({"$ext":0,"module":"collections","name":"deque","arg":[1]})");
}

TEST(PythonExpression, EverythingElseIsUnknown) {
  for (const char* expression :
       {"object()", "T.Opaque()", "len", "1+2j", "range(3)", "np.array([1], dtype='M8[D]')",
        "lambda: 1", "[x for x in y]", "1 if True else 2", "'x'*3", "f'{x}'", "[1", "2**-1"}) {
    EXPECT_EQ(evaluated(expression), "?" + std::string(expression));
  }
  const Value value = evaluate_python("{'a': [1, T.Opaque()]}");
  EXPECT_EQ(value.at("a", 0), Value(1));
  EXPECT_NE(unwrap<UnknownPythonObject>(value.at("a", 1)), nullptr);
}

// ---- serde

TEST(SerdeVectors, RightOnesPass) {
  EXPECT_EQ(report_of_json(run_serde, R"({"format": "serde-vectors/1", "cases": [
      {"name": "a", "kind": "roundtrip", "tag": "msgpack", "hex": "81a16101",
       "canonical": {"a": 1}, "reencode": "same"},
      {"name": "b", "kind": "decode-only", "tag": "json", "hex": "312e30",
       "canonical": {"$json": 1}, "reencode": "different-json"},
      {"name": "c", "kind": "refused", "python": "[2**64]"},
      {"name": "d", "kind": "refused", "tag": "msgpack", "hex": "c1"}]})"),
            "4 passed, 0 failed\n");
}

TEST(SerdeVectors, WrongOnesAreReported) {
  EXPECT_EQ(report_of_json(run_serde, R"({"format": "serde-vectors/1", "cases": [
      {"name": "a", "kind": "roundtrip", "tag": "msgpack", "hex": "81a16101",
       "canonical": {"a": 2}, "reencode": "same"},
      {"name": "b", "kind": "roundtrip", "tag": "msgpack", "hex": "d90161",
       "canonical": "a", "reencode": "same"},
      {"name": "c", "kind": "refused", "python": "[2**64-1]"},
      {"name": "d", "kind": "refused", "tag": "msgpack", "hex": "c0"},
      {"name": "e", "kind": "roundtrip", "tag": "msgpack", "hex": "82a16101a16202",
       "canonical": {"b": 2, "a": 1}, "reencode": "same"},
      {"name": "f", "kind": "odd"},
      7], "more": []})"),
            "FAIL a: canonical: expected {\"a\":2}, got {\"a\":1}\n"
            "FAIL b: bytes written again: expected d90161, got a161\n"
            "FAIL c: storing: expected an error, got none\n"
            "FAIL d: loading: expected an error, got none\n"
            "FAIL e: canonical: expected {\"b\":2,\"a\":1}, got {\"a\":1,\"b\":2}\n"
            "FAIL f: this tool does not know the kind 'odd'\n"
            "FAIL cases[6]: $: expected object, found int\n"
            "FAIL more: this tool does not know the section\n"
            "0 passed, 8 failed\n");
}

TEST(Report, NothingRunIsNoSuccess) {
  std::ostringstream out;
  Report report(out);
  EXPECT_FALSE(report.finish());
  report.run("one", [] {});
  EXPECT_TRUE(report.finish());
  report.run("two", [] { throw Mismatch("a\nb"); });
  EXPECT_FALSE(report.finish());
  EXPECT_EQ(out.str(),
            "0 passed, 0 failed\n1 passed, 0 failed\nFAIL two: a\\nb\n1 passed, 1 failed\n");
}

// ---- the recorded files, damaged in every place that is derived from another

struct RecordedFile {
  const char* name;
  Runner run;
};

constexpr RecordedFile kFiles[] = {{"serde.json", run_serde},
                                   {"ids.json", run_ids},
                                   {"encrypted.json", run_encrypted},
                                   {"js_serde.json", run_js}};

Value read_recorded(const char* name) {
  return read_vectors(std::string(CLEW_TEST_DATA_DIR "/vectors/") + name);
}

// What each file says that Clew must come to by itself.
constexpr std::string_view kDerived[] = {"hex",
                                         "canonical",
                                         "task_id",
                                         "string",
                                         "id",
                                         "next",
                                         "uuid",
                                         "first",
                                         "late",
                                         "path_string",
                                         "text",
                                         "plain_hex",
                                         "task_checkpoint_ns"};

Value damaged(const Value& value) {
  if (value.is_string()) return std::string(value.as_string()) + "0";
  if (value.is_int()) return value.as_int() + 1;
  return "damaged";
}

TEST(RecordedVectors, EveryDamagedResultIsNoticed) {
  int tried = 0;
  for (const auto& [name, run] : kFiles) {
    const Value vectors = read_recorded(name);
    for (const auto& [section, cases] : vectors.items()) {
      if (!cases.is_list() || section == "must_fail" || section == "thread") continue;
      for (std::string_view key : kDerived) {
        const Value& first = cases[0];
        if (!first.contains(key) || first.at(key).is_null()) continue;
        const Value wrong = object({{"format", vectors["format"]},
                                    {section, list({first.set(key, damaged(first.at(key)))})}});
        EXPECT_NE(report_of(run, wrong).find("0 passed, 1 failed"), std::string::npos)
            << name << " " << section << " " << key;
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 20);
}

// ---- random values

TEST(RandomValues, TheSameSeedGivesTheSameValues) {
  const auto printed = [](std::uint64_t seed) {
    std::ostringstream out;
    print_random(out, seed, 50, "");
    return out.str();
  };
  EXPECT_EQ(printed(7), printed(7));
  EXPECT_NE(printed(7), printed(8));
}

TEST(Exchange, WhatIsPrintedConvertsToItself) {
  for (const char* key : {"", "0123456789abcdef"}) {
    std::stringstream random;
    print_random(random, 7, 200, key);
    std::ostringstream converted;
    convert_lines(random, converted, key);
    std::istringstream before(random.str());
    std::istringstream after(converted.str());
    std::string line;
    std::string again;
    while (std::getline(before, line)) {
      ASSERT_TRUE(std::getline(after, again));
      EXPECT_EQ(parse_json(line)["canonical"], parse_json(again)["canonical"]);
    }
  }
}

TEST(Exchange, AnErrorIsALine) {
  std::istringstream in("{\"tag\": \"msgpack\", \"hex\": \"c1\"}\nno json\n");
  std::stringstream out;
  convert_lines(in, out, "");
  std::size_t errors = 0;
  for (std::string line; std::getline(out, line);) {
    errors += parse_json(line).contains("error") ? 1 : 0;
  }
  EXPECT_EQ(errors, 2U);
}

// ---- Databases

Value replaced(const Value&, const Value& value) { return value; }

// `root` with `value` at the place that the steps lead to.
template <class... Steps>
Value replaced(const Value& root, const Value& value, std::string_view key, const Steps&... steps);
template <class... Steps>
Value replaced(const Value& root, const Value& value, int index, const Steps&... steps) {
  const auto position = static_cast<std::size_t>(index);
  return root.set(position, replaced(root[position], value, steps...));
}
template <class... Steps>
Value replaced(const Value& root, const Value& value, std::string_view key, const Steps&... steps) {
  return root.set(key, replaced(root[key], value, steps...));
}

// What the tool says if `value` is expected at a place of the thread "linear".
template <class... Steps>
std::string report_of_database(const Value& value, const Steps&... steps) {
  const std::filesystem::path folder = std::filesystem::path(CLEW_TEST_DATA_DIR) / "databases";
  const Value expected = read_vectors(folder / "sqlite_checkpoints.expected.json");
  Value thread = expected["threads"][0];
  EXPECT_NE(thread.at(steps...), value);
  std::ostringstream out;
  Report report(out);
  run_database(folder / "sqlite_checkpoints.db",
               expected.set("threads", list({replaced(thread, value, steps...)})), report);
  return out.str();
}

TEST(Database, EveryDifferenceIsFound) {
  const auto is_reported = [](const std::string& report, std::string_view what) {
    return report.starts_with("FAIL linear: ") && report.find(what) != std::string::npos;
  };
  const auto checkpoint = [&](std::string_view field, const Value& value) {
    return is_reported(report_of_database(value, "checkpoints", 2, field), field);
  };
  EXPECT_TRUE(checkpoint("parent_checkpoint_id", nullptr));
  EXPECT_TRUE(checkpoint("ts", "2026"));
  EXPECT_TRUE(checkpoint("channel_versions", object()));
  EXPECT_TRUE(checkpoint("versions_seen", object()));
  EXPECT_TRUE(checkpoint("updated_channels", nullptr));
  EXPECT_TRUE(checkpoint("channel_values", object({{"log", list()}})));
  EXPECT_TRUE(checkpoint("metadata", object()));
  EXPECT_TRUE(checkpoint("pending_writes", list()));
  EXPECT_TRUE(is_reported(report_of_database(list(), "checkpoints"), "checkpoints"));
  EXPECT_TRUE(is_reported(report_of_database(object(), "state_history", 1, "values"), "values"));
  EXPECT_TRUE(
      is_reported(report_of_database(object(), "state_history", 1, "metadata"), "metadata"));
}

}  // namespace
}  // namespace clew::interop
