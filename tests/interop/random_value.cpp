#include "random_value.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include <clew/extension.hpp>
#include <clew/messages.hpp>
#include <clew/python_types.hpp>
#include <clew/time.hpp>

namespace clew::interop {
namespace {

constexpr int kMaxDepth = 4;

Value instance(ExtensionCode code, std::string_view module, std::string_view name, Value payload) {
  return make_extension(code, module, name, std::move(payload));
}

}  // namespace

Value RandomValues::next() {
  // Forms that exist only at the top.
  if (one_in(40)) return make_extension(ExtensionCode::bytearray, Value::bytes(bytes(100)));
  if (one_in(40)) return make_extension(ExtensionCode::delta_snapshot, any(1));
  return any(0);
}

Value RandomValues::any(int depth) {
  const std::size_t choice = below(depth < kMaxDepth ? 12 : 6);
  switch (choice) {
    case 4: return python_value();
    case 5: return message();
    case 6:
    case 7: return list_of(depth + 1);
    case 8:
    case 9: return object_of(depth + 1);
    case 10: return map_of(depth + 1);
    case 11: return langgraph_value(depth + 1);
    default: return scalar();
  }
}

// Scalars -----------------------------------------------------------------------

Value RandomValues::scalar() {
  switch (below(7)) {
    case 0: return nullptr;
    case 1: return one_in(2);
    case 2: return integer();
    case 3: return floating();
    case 4: return Value::bytes(bytes(one_in(10) ? 70'000 : 40));
    default: return text();
  }
}

Value RandomValues::integer() {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  // Around the ends of every stored width, and anything.
  const std::int64_t near = static_cast<std::int64_t>(below(5)) - 2;
  switch (below(6)) {
    case 0: return near;
    case 1: return (std::int64_t{1} << (5 + below(58))) + near;
    case 2: return -(std::int64_t{1} << (5 + below(58))) + near;
    case 3: return std::numeric_limits<std::uint64_t>::max() - below(3);
    case 4: return kMin + static_cast<std::int64_t>(below(3));
    default: return static_cast<std::int64_t>(engine_()) >> below(64);
  }
}

double RandomValues::floating() {
  using Limits = std::numeric_limits<double>;
  constexpr double kSpecial[] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.5,
                                 0.1,
                                 1e16,
                                 1e-5,
                                 123456789.125,
                                 Limits::max(),
                                 Limits::min(),
                                 Limits::denorm_min(),
                                 Limits::infinity(),
                                 -Limits::infinity(),
                                 Limits::quiet_NaN()};
  if (one_in(2)) return kSpecial[below(std::size(kSpecial))];
  const double any_bits = std::bit_cast<double>(engine_());
  return std::isnan(any_bits) ? 0.5 : any_bits;
}

std::string RandomValues::character() {
  constexpr const char* kSamples[] = {"\"",     "\\",     "\n",         "\t",         "/",
                                      "\x7f",   "\u00e9", "\u00df",     "\u4e16",     "\u2028",
                                      "\ufeff", "\uffff", "\U0001f600", "\U0010ffff", "\u0301"};
  if (one_in(3)) return kSamples[below(std::size(kSamples))];
  if (one_in(20)) return std::string(1, '\0');
  return std::string(1, static_cast<char>(' ' + below(95)));
}

std::string RandomValues::text() {
  // Lengths around where the header grows and where Clew stops to hold text inline.
  constexpr std::size_t kLengths[] = {0, 1, 13, 14, 15, 31, 32, 255, 256};
  std::string result;
  if (one_in(60)) return std::string(65'530 + below(10), 'x');
  const std::size_t length = one_in(3) ? kLengths[below(std::size(kLengths))] : below(20);
  while (result.size() < length) result += character();
  return result;
}

std::string RandomValues::word() {
  std::string result;
  for (std::size_t i = 1 + below(12); i > 0; --i) result += static_cast<char>('a' + below(26));
  return result;
}

std::optional<std::string> RandomValues::optional_word() {
  return one_in(2) ? std::optional(word()) : std::nullopt;
}

std::string RandomValues::bytes(std::size_t max_size) {
  std::string result(below(max_size), '\0');
  for (char& byte : result) byte = static_cast<char>(engine_());
  return result;
}

// Containers --------------------------------------------------------------------

Value RandomValues::list_of(int depth) {
  ListBuilder builder;
  const std::size_t size = one_in(30) ? 20 + below(50) : below(6);
  for (std::size_t i = 0; i < size; ++i) {
    builder.push_back(size > 6 ? integer() : any(depth));
  }
  return std::move(builder).build();
}

Value RandomValues::object_of(int depth) {
  ObjectBuilder builder;
  const std::size_t size = one_in(30) ? 20 + below(50) : below(6);
  for (std::size_t i = 0; i < size; ++i) {
    std::string name = one_in(4) ? text() : word();
    if (one_in(20)) name.insert(0, "$");
    builder.set(name, size > 6 ? integer() : any(depth));
  }
  return std::move(builder).build();
}

// A key that differs from those of other indexes also for Python, where 1, 1.0
// and True are one key.
Value RandomValues::key(std::size_t index) {
  const auto number = static_cast<std::int64_t>(index);
  switch (below(6)) {
    case 0: return number * 1000 + 7;
    case 1: return -number * 70'000 - 1;
    case 2: return static_cast<double>(index) + 0.5;
    case 3: return Value::bytes("k" + std::to_string(index));
    case 4: return list({number, word(), list({one_in(2), nullptr})});
    default: return std::to_string(index) + word();
  }
}

Value RandomValues::map_of(int depth) {
  std::vector<std::pair<Value, Value>> entries;
  if (one_in(3)) entries.emplace_back(nullptr, any(depth));
  if (one_in(3)) entries.emplace_back(one_in(2), any(depth));
  // Where all keys are strings the map would be an object.
  entries.emplace_back(12'345, any(depth));
  for (std::size_t i = below(4); i > 0; --i) entries.emplace_back(key(i), any(depth));
  return Value::map(entries);
}

Value RandomValues::set() {
  switch (below(3)) {
    case 0: {
      std::set<std::int64_t> numbers;
      for (std::size_t i = below(4); i > 0; --i)
        numbers.insert(static_cast<std::int64_t>(below(99)));
      return numbers;
    }
    case 1: {
      std::set<std::string> words;
      for (std::size_t i = below(4); i > 0; --i) words.insert(word());
      return words;
    }
    default: return instance(ExtensionCode::construct, "builtins", "frozenset", list({text()}));
  }
}

Value RandomValues::json(int depth) {
  switch (below(depth < 2 ? 8 : 6)) {
    case 0: return nullptr;
    case 1: return one_in(2);
    case 2: return integer();
    case 3: return static_cast<double>(below(1000)) / 8;
    case 6: {
      ListBuilder builder;
      for (std::size_t i = below(3); i > 0; --i) builder.push_back(json(depth + 1));
      return std::move(builder).build();
    }
    case 7: return json_object(depth + 1);
    default: return text();
  }
}

Value RandomValues::json_object(int depth) {
  ObjectBuilder builder;
  for (std::size_t i = below(3); i > 0; --i) builder.set("x_" + word(), json(depth));
  return std::move(builder).build();
}

// Python's own types ------------------------------------------------------------

Value RandomValues::python_value() {
  Uuid::Bytes id;
  for (std::uint8_t& byte : id) byte = static_cast<std::uint8_t>(engine_());
  switch (below(9)) {
    case 0: return time();
    case 1: return duration(999'999);
    case 2: {
      using std::chrono::sys_days, std::chrono::days, std::chrono::year_month_day;
      return year_month_day(sys_days(days(below(20'000))));
    }
    case 3: return Uuid(id);
    case 4: return Decimal(decimal());
    case 5: return set();
    case 6: return instance(ExtensionCode::construct, "collections", "deque", list({1, word()}));
    case 7: return path();
    default: return ndarray();
  }
}

Value RandomValues::time() {
  using std::chrono::minutes, std::chrono::local_time;
  DateTime time;
  time.local += duration(300'000) + duration(300'000);
  if (one_in(3)) time.local = floor<std::chrono::seconds>(time.local);
  if (one_in(2)) time.utc_offset = minutes(static_cast<int>(below(2800)) - 1400);
  return time;
}

Value RandomValues::path() {
  ListBuilder parts;
  if (one_in(2)) parts.push_back("/");
  for (std::size_t i = 1 + below(3); i > 0; --i) parts.push_back(word() + " x");
  return instance(ExtensionCode::construct_args, "pathlib", "PosixPath", std::move(parts).build());
}

std::chrono::microseconds RandomValues::duration(std::int64_t max_days) {
  const auto days = static_cast<std::int64_t>(below(static_cast<std::size_t>(2 * max_days)));
  return std::chrono::days(days - max_days) +
         std::chrono::microseconds(below(std::size_t{86'400} * 1'000'000));
}

std::string RandomValues::decimal() {
  constexpr const char* kSamples[] = {"NaN",  "Infinity", "-Infinity", "0",    "-0",
                                      "0.00", "1E+5",     "-7.25E-10", "1.10", "0E-9"};
  if (one_in(2)) return kSamples[below(std::size(kSamples))];
  std::string digits = one_in(2) ? "-" : "";
  digits += std::to_string(1 + engine_() / 2) + std::to_string(engine_());
  if (one_in(2)) digits.insert(digits.size() - 1 - below(6), ".");
  return digits;
}

Value RandomValues::ndarray() {
  const std::size_t rows = 1 + below(3);
  const std::string data(rows * 2 * sizeof(double), '\x40');
  return make_extension(ExtensionCode::ndarray,
                        list({"<f8", list({rows, 2}), "C", Value::bytes(data)}));
}

Value RandomValues::langgraph_value(int depth) {
  constexpr std::string_view kTypes = "langgraph.types";
  switch (below(3)) {
    case 0:
      return instance(ExtensionCode::construct_args, kTypes, "Send", list({word(), any(depth)}));
    case 1:
      return instance(
          ExtensionCode::construct_kwargs, kTypes, "Interrupt",
          object({{"value", any(depth)}, {"id", word()}, {"response_schema", nullptr}}));
    default:
      return instance(ExtensionCode::construct_kwargs, kTypes, "Command",
                      object({{"graph", nullptr},
                              {"update", any(depth)},
                              {"resume", any(depth)},
                              {"goto", list({word()})}}));
  }
}

// Messages ----------------------------------------------------------------------

Value RandomValues::content() {
  if (one_in(2)) return text();
  return list({object({{"type", "text"}, {"text", text()}}), text()});
}

template <class Message>
Message RandomValues::with_common_fields() {
  Message message;
  message.content = content();
  message.name = optional_word();
  message.id = optional_word();
  message.additional_kwargs = json_object(0);
  message.response_metadata = json_object(0);
  return message;
}

Value RandomValues::message() {
  switch (below(6)) {
    case 0: return with_common_fields<HumanMessage>();
    case 1: return with_common_fields<SystemMessage>();
    case 2: return RemoveMessage{.id = word()};
    case 3: {
      auto message = with_common_fields<ToolMessage>();
      message.tool_call_id = word();
      message.artifact = json(0);
      if (one_in(2)) message.status = "error";
      return message;
    }
    case 4: {
      auto message = with_common_fields<ChatMessage>();
      message.role = word();
      return message;
    }
    default: return ai_message();
  }
}

Value RandomValues::ai_message() {
  if (one_in(4)) {
    auto chunk = with_common_fields<AIMessageChunk>();
    if (one_in(2)) chunk.chunk_position = "last";
    return chunk;
  }
  auto message = with_common_fields<AIMessage>();
  for (std::size_t i = below(3); i > 0; --i) {
    message.tool_calls.push_back({.name = word(), .args = json_object(0), .id = optional_word()});
  }
  if (one_in(4)) {
    message.invalid_tool_calls.push_back(
        {.name = word(), .args = "{bad", .error = optional_word()});
  }
  if (one_in(2)) {
    message.usage_metadata =
        UsageMetadata{.input_tokens = 3, .output_tokens = 4, .total_tokens = 7};
    if (one_in(2)) message.usage_metadata->input_token_details = {{"cache_read", 100}};
  }
  return message;
}

}  // namespace clew::interop
