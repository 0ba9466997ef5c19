#include <string>

#include <clew/ids.hpp>
#include <clew/json.hpp>
#include <clew/serde.hpp>
#include <clew/uuid.hpp>

#include "vectors.hpp"

namespace clew::interop {
namespace {

void expect_survives(const JsonPlusSerializer& serializer, const Value& value) {
  expect_true("the value survives being stored",
              serializer.loads_typed(serializer.dumps_typed(value)) == value);
}

void check_case(const Value& recorded) {
  JsonPlusOptions options;
  options.json_dialect = Dialect::javascript;
  const JsonPlusSerializer serializer(options);
  const std::string_view tag = recorded.at("tag").as_string();
  const std::string bytes = from_hex(recorded.at("hex").as_string());
  const Value value = serializer.loads_typed(tag, bytes);
  if (tag == "json") {
    const std::string_view text = recorded.at("text").as_string();
    expect_same_json("JSON", object({{"$json", parse_lenient_json(text)}}),
                     object({{"$json", parse_lenient_json(bytes)}}));
  } else {
    expect_equal("tag", "bytes", tag);
    expect_equal("bytes", to_hex(bytes), to_hex(value.as_bytes()));
  }
  expect_survives(serializer, value);
}

// The clock sequence of an id made in JavaScript. For negative steps it spoils
// the variant, so only its 14 bits can be compared, and the id must be readable.
void check_group4(const Value& recorded) {
  const std::int64_t step = recorded.at("clockseq").as_int();
  const std::string group(recorded.at("group4").as_string());
  const Uuid read = Uuid::parse("1f1e13ae-e94d-64c0-" + group + "-4e9785d13e37");
  expect_equal("id as text", group, read.to_string().substr(19, 4));

  const Uuid made = uuid6_from(0, 0, step);
  const auto sequence = [](const Uuid& uuid) {
    return std::to_string((uuid.bytes()[8] & 0x3F) << 8 | uuid.bytes()[9]);
  };
  expect_equal("clock sequence", sequence(read), sequence(made));
  if (step >= 0 && step < 0x4000) expect_equal("group4", group, made.to_string().substr(19, 4));
}

void check_uuid5(const Value& recorded) {
  const Uuid name_space = Uuid::parse(recorded.at("namespace").as_string());
  expect_equal("id", recorded.at("id").as_string(),
               uuid5(name_space, recorded.at("name").as_string()).to_string());
}

// One checkpoint as the JavaScript memory saver lists it.
void check_checkpoint(const Value& recorded) {
  const std::string_view id = recorded.at("checkpoint", "id").as_string();
  expect_equal("checkpoint id", id, Uuid::parse(id).to_string());
  const Value& parent = recorded.at("parent");
  if (!parent.is_null()) {
    expect_equal("parent id", parent.as_string(), Uuid::parse(parent.as_string()).to_string());
  }
  expect_survives(JsonPlusSerializer(), recorded);
}

// The id of a task that an edge triggered. JavaScript hashes the trigger that
// fired, as JSON, where Python hashes all triggers, as text.
std::string js_task_id(const Value& checkpoint, const Value& name, const Value& last_part) {
  const std::int64_t step = checkpoint.at("metadata", "step").as_int() + 1;
  const Value parts = list({name, std::to_string(step), name, "__pregel_pull", last_part});
  const Uuid name_space = Uuid::parse(checkpoint.at("checkpoint", "id").as_string());
  return uuid5(name_space, to_json(parts)).to_string();
}

// A task of the thread's newest checkpoint, with its interrupts.
void check_task(const Value& task) {
  const std::string id(task.at("id").as_string());
  for (const Value& last_part : task.at("task_id_last_part")) {
    expect_equal("task id", id, js_task_id(task.at("checkpoint"), task.at("name"), last_part));
  }
  const std::string ns = task_checkpoint_ns("", task.at("name").as_string(), id);
  for (const Value& interrupt : task.at("interrupts")) {
    expect_equal("interrupt id", interrupt.at("id").as_string(), interrupt_id(ns, 0));
  }
}

}  // namespace

void run_js(const Value& vectors, Report& report) {
  constexpr Section kSections[] = {
      {"cases", check_case},        {"uuid6_group4", check_group4}, {"uuid5", check_uuid5},
      {"thread", check_checkpoint}, {"task", check_task},
  };
  const Value& task = vectors["task"];
  const Value& newest = vectors["thread"][0];
  run_sections(task.is_object() ? vectors.set("task", task.set("checkpoint", newest)) : vectors,
               kSections, report);
}

}  // namespace clew::interop
