#include <charconv>
#include <string>
#include <vector>

#include <clew/ids.hpp>
#include <clew/uuid.hpp>

#include "vectors.hpp"

namespace clew::interop {
namespace {

std::string text(const Value& recorded, std::string_view key) {
  return std::string(recorded.at(key).as_string());
}

void expect_text(const Value& recorded, std::string_view key, std::string_view got) {
  expect_equal(key, recorded.at(key).as_string(), got);
}

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> result;
  for (const Value& element : list) result.emplace_back(element.as_string());
  return result;
}

std::int64_t parse_integer(std::string_view digits) { return Value::integer(digits).as_int(); }

TaskPath read_path(const Value& elements) {
  TaskPath path;
  for (const Value& element : elements) {
    if (element.is_list()) {
      path.append(read_path(element));
    } else if (element.is_bool()) {
      path.append(element.as_bool());
    } else if (element.is_int()) {
      path.append(element.as_int());
    } else {
      path.append(element.as_string());
    }
  }
  return path;
}

// A path with this string. Its parts cannot be told from the string, but ids
// are made from nothing else.
TaskPath path_with_string(std::string_view string) {
  if (!string.starts_with('~')) throw Mismatch("a task path starts with '~'");
  return TaskPath::of(string.substr(1));
}

// Tasks -------------------------------------------------------------------------

// The parts that are hashed: namespace, step, node, "__pregel_pull" or
// "__pregel_push", and what tells the task from others.
constexpr std::size_t kCommonParts = 4;

// The id by the function for this kind of task; empty if the kind has none.
std::string id_by_kind(std::string_view kind, const TaskOrigin& origin,
                       const std::vector<std::string>& parts) {
  const std::string& node = parts.at(2);
  const std::vector<std::string> own(parts.begin() + kCommonParts, parts.end());
  if (kind == "PULL") return pull_task_id(origin, node, own);
  if (kind == "PUSH") return push_task_id(origin, node, parse_integer(own.at(0)));
  if (kind == "CALL") {
    return call_task_id(origin, node, path_with_string(own.at(0)), parse_integer(own.at(1)));
  }
  if (kind == "ERROR_HANDLER") return error_handler_task_id(origin, node, own.at(1));
  return {};
}

// The namespace that the first part names, without the node itself.
std::string parent_of(const std::string& ns, const std::string& node) {
  if (ns == node) return {};
  return ns.substr(0, ns.size() - std::min(ns.size(), node.size() + 1));
}

void check_task(const Value& recorded) {
  const std::vector<std::string> parts = texts(recorded.at("hash_parts"));
  const std::vector<std::string_view> views(parts.begin(), parts.end());
  if (parts.size() < kCommonParts) throw Mismatch("hash_parts are too few");

  TaskOrigin origin;
  origin.checkpoint_id = Uuid::parse(recorded.at("checkpoint_id").as_string());
  origin.parent_ns = parent_of(parts[0], parts[2]);
  origin.step = parse_integer(parts[1]);
  if (const Value* version = recorded.find("checkpoint_v")) {
    origin.checkpoint_v = static_cast<int>(version->as_int());
  }
  expect_text(recorded, "task_id", task_id(origin.checkpoint_id, views, origin.checkpoint_v));
  const std::string by_kind = id_by_kind(recorded.at("kind").as_string(), origin, parts);
  if (!by_kind.empty()) expect_text(recorded, "task_id", by_kind);

  if (recorded.contains("task_checkpoint_ns")) {
    expect_text(
        recorded, "task_checkpoint_ns",
        task_checkpoint_ns(text(recorded, "parent_ns"), parts[2], text(recorded, "task_id")));
  }
  if (recorded["algorithm"] == Value("xxh3_128")) {
    const std::string hash = xxh3_128_hex(from_hex(text(recorded, "hash_input_hex")));
    expect_text(recorded, "task_id", Uuid::parse(hash).to_string());
  }
}

void check_path(const Value& recorded, std::string_view string_key) {
  expect_text(recorded, string_key, task_path_str(read_path(recorded.at("path"))));
}

void check_observed(const Value& recorded) {
  if (recorded.at("kind").as_string() == "INTERRUPT") {
    return expect_text(recorded, "id",
                       interrupt_id(text(recorded, "ns"), recorded.at("answered").as_int()));
  }
  if (recorded.contains("hash_parts")) check_task(recorded);
  if (recorded.contains("path")) check_path(recorded, "path_string");
  expect_text(recorded, "task_id", Uuid::parse(text(recorded, "task_id")).to_string());
}

// Other ids ---------------------------------------------------------------------

void check_hash(const Value& recorded) {
  expect_text(recorded, "hex", xxh3_128_hex(from_hex(text(recorded, "input_hex"))));
}

void check_interrupt(const Value& recorded) {
  expect_text(recorded, "id", interrupt_id(text(recorded, "ns"), recorded.at("answered").as_int()));
  expect_text(recorded, "id", xxh3_128_hex(text(recorded, "hash_input")));
  expect_true("is_interrupt_id", is_interrupt_id(text(recorded, "id")));
}

void check_legacy_interrupt(const Value& recorded) {
  expect_text(recorded, "id", legacy_interrupt_id(texts(recorded.at("ns"))));
}

void check_uuid5(const Value& recorded) {
  constexpr std::string_view kUpdate = "update_state_";
  const Uuid name_space = Uuid::parse(text(recorded, "namespace"));
  expect_text(recorded, "id", uuid5(name_space, text(recorded, "name")).to_string());
  const std::string use = text(recorded, "use");
  if (use == "input_delta_writes") expect_text(recorded, "id", input_writes_id(name_space));
  if (use.starts_with(kUpdate)) {
    const std::int64_t index = parse_integer(std::string_view(use).substr(kUpdate.size()));
    expect_text(recorded, "id", update_task_id(name_space, index));
  }
}

void check_exit_delta(const Value& recorded) {
  const std::int64_t step = recorded.at("step").as_int();
  const std::string task = text(recorded, "task_id");
  expect_text(recorded, "first", exit_delta_task_id(step, task));
  // Null where a step is too early to have a late form.
  if (recorded.at("late").is_null()) return;
  expect_text(recorded, "late", exit_delta_late_task_id(step, task));
}

// Versions ----------------------------------------------------------------------

void check_version_string(const Value& recorded) {
  const Value& current = recorded.at("current");
  const std::string current_text = current.is_null()  ? std::string()
                                   : current.is_int() ? current.integer_text()
                                                      : text(recorded, "current");
  const std::string random_text = text(recorded, "random");
  double random = 0;
  std::from_chars(random_text.data(), random_text.data() + random_text.size(), random);
  expect_text(recorded, "next", next_version(current_text, random));
}

void check_version_int(const Value& recorded) {
  const Value& current = recorded.at("current");
  const std::int64_t next = next_integer_version(current.is_null() ? 0 : current.as_int());
  expect_equal("next", recorded.at("next").integer_text(), std::to_string(next));
}

// Checkpoint ids ----------------------------------------------------------------

void check_uuid6(const Value& recorded) {
  const Uuid uuid = uuid6_from(recorded.at("unix_ns").as_int(), recorded.at("node").as_uint(),
                               recorded.at("clock_seq").as_int());
  expect_text(recorded, "uuid", uuid.to_string());
}

void check_uuid6_monotonic(const Value& recorded) {
  const Value& times = recorded.at("unix_ns");
  std::size_t made = 0;
  CheckpointIds ids([&] { return times.at(made).as_int(); },
                    [&] { return recorded.at("node").as_uint(); });
  for (const Value& expected : recorded.at("uuids")) {
    const Uuid uuid = ids.next(recorded.at("clock_seq", made).as_int());
    expect_equal("uuid " + std::to_string(made), expected.as_string(), uuid.to_string());
    ++made;
  }
}

constexpr Section kSections[] = {
    {"xxh3_128", check_hash},
    {"task_path_str", [](const Value& recorded) { check_path(recorded, "string"); }},
    {"task_ids", check_task},
    {"observed", check_observed},
    {"interrupt_ids", check_interrupt},
    {"interrupt_ids_legacy_ns_list", check_legacy_interrupt},
    {"uuid5_ids", check_uuid5},
    {"exit_delta_ids", check_exit_delta},
    {"version_strings", check_version_string},
    {"version_ints", check_version_int},
    {"uuid6", check_uuid6},
    {"uuid6_monotonic", check_uuid6_monotonic},
};

}  // namespace

void run_ids(const Value& vectors, Report& report) { run_sections(vectors, kSections, report); }

}  // namespace clew::interop
