#include "serde/python_constructor.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <clew/extension.hpp>
#include <clew/json.hpp>
#include <clew/python_types.hpp>
#include <clew/time.hpp>

#include "value/hex.hpp"
#include "value/message_class.hpp"

namespace clew::serde {

namespace {

struct Parameter {
  std::string_view name;
  // The default as JSON; nullptr: the argument is required.
  const char* fallback = nullptr;
};

// A call after Python's rules gave every parameter its argument.
struct Call {
  std::string_view module;
  std::string_view name;
  ExtensionCode code;
  Value arguments;  // an object, in the order of the parameters
  Value others;     // keyword arguments beyond the parameters

  const Value& operator[](std::string_view parameter) const { return arguments[parameter]; }
  Value make(Value payload) const { return make_extension(code, module, name, std::move(payload)); }
};

using Build = std::optional<Value> (*)(const Call&);

// The first parameter is the list of all arguments given by position.
constexpr std::size_t kVariadic = std::numeric_limits<std::size_t>::max();

struct Constructor {
  std::string_view module;
  std::string_view name;
  ExtensionCode code;
  std::span<const Parameter> parameters;
  // How many of them may be given by position, or kVariadic.
  std::size_t positional;
  Build build;
  bool takes_other_keywords = false;
};

[[noreturn]] void refuse(std::string_view reason) { throw ValueError(std::string(reason)); }

// Gives each parameter its argument. Throws ValueError where Python has a TypeError.
Value bind(const Constructor& constructor, const Value& args, const Value& kwargs) {
  if (constructor.positional == kVariadic) {
    return object({{constructor.parameters[0].name, args.is_null() ? list() : args}});
  }
  if (args.size() > constructor.positional) refuse("too many arguments");
  ObjectBuilder bound;
  for (std::size_t i = 0; i < constructor.parameters.size(); ++i) {
    const Parameter& parameter = constructor.parameters[i];
    const Value* keyword = kwargs.find(parameter.name);
    if (i < args.size()) {
      if (keyword != nullptr) refuse("argument given twice");
      bound.set(parameter.name, args[i]);
    } else if (keyword != nullptr) {
      bound.set(parameter.name, *keyword);
    } else if (parameter.fallback != nullptr) {
      bound.set(parameter.name, parse_json(parameter.fallback));
    } else {
      refuse("missing argument");
    }
  }
  return std::move(bound).build();
}

Value other_keywords(const Constructor& constructor, const Value& kwargs) {
  Value others = kwargs.is_null() ? object() : kwargs;
  for (const Parameter& parameter : constructor.parameters) others = others.erase(parameter.name);
  if (!others.empty() && !constructor.takes_other_keywords) refuse("unknown argument");
  return others;
}

// name(**arguments): dataclasses and named tuples.
std::optional<Value> build_from_fields(const Call& call) { return call.make(call.arguments); }

// name(text), text kept as it is: addresses and zones.
std::optional<Value> build_from_text(const Call& call) {
  const Value text = call.arguments.items()[0].value;
  if (!text.is_string()) return std::nullopt;
  return call.make(text);
}

std::optional<Value> build_message(const Call& call) {
  const internal::MessageClassInfo* info = internal::find_message_class(call.name);
  Value fields = call.others;
  if (!call["content"].is_null()) fields = fields.set("content", call["content"]);
  return info->construct(fields);
}

std::optional<Value> build_document(const Call& call) {
  if (!call["page_content"].is_string()) refuse("page_content must be text");
  return make_extension(call.code, call.module, call.name,
                        object({{"id", call["id"]},
                                {"metadata", call["metadata"]},
                                {"page_content", call["page_content"]},
                                {"type", "Document"}}),
                        "model_validate_json");
}

std::chrono::microseconds read_clock(const Call& call) {
  const auto part = [&](std::string_view name, std::int64_t limit) {
    const std::int64_t number = call[name].as_int();
    if (number < 0 || number >= limit) refuse("not a time of day");
    return number;
  };
  return std::chrono::hours(part("hour", 24)) + std::chrono::minutes(part("minute", 60)) +
         std::chrono::seconds(part("second", 60)) +
         std::chrono::microseconds(part("microsecond", 1'000'000));
}

std::optional<Value> build_datetime(const Call& call) {
  const Value& zone = call["tzinfo"];
  const bool has_offset = is_instance(zone, "datetime", "timezone");
  if (!zone.is_null() && !has_offset) return std::nullopt;
  const Value date = list({call["year"], call["month"], call["day"]});
  DateTime time;
  time.local = std::chrono::local_days(date.get<std::chrono::year_month_day>()) + read_clock(call);
  if (has_offset) {
    time.utc_offset = zone.as_extension().payload[0].get<std::chrono::microseconds>();
  }
  return to_value(time);
}

std::optional<Value> build_date(const Call& call) {
  const Value date = list({call["year"], call["month"], call["day"]});
  return Value(date.get<std::chrono::year_month_day>());
}

std::optional<Value> build_time(const Call& call) {
  read_clock(call);
  return call.make(call.arguments);
}

std::optional<Value> build_timedelta(const Call& call) {
  // In units of microseconds; the order is that of the parameters.
  constexpr std::array<std::int64_t, 7> kUnits = {
      86'400'000'000, 1'000'000, 1, 1'000, 60'000'000, 3'600'000'000, 604'800'000'000};
  std::int64_t total = 0;
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    const Value& count = call.arguments.items()[i].value;
    if (count.is_double()) return std::nullopt;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(count.as_int(), kUnits[i], &product) ||
        __builtin_add_overflow(total, product, &total)) {
      return std::nullopt;
    }
  }
  return Value(std::chrono::microseconds(total));
}

std::optional<Value> build_timezone(const Call& call) {
  const Value& offset = call["offset"];
  if (!is_instance(offset, "datetime", "timedelta")) refuse("the offset must be a timedelta");
  const Value args = list({offset});
  return call.make(call["name"].is_null() ? args : args.append(call["name"]));
}

std::optional<Value> build_uuid(const Call& call) {
  const Value& hex = call["hex"];
  if (hex.is_null() && !call.others.empty()) return std::nullopt;
  if (hex.is_null()) refuse("a UUID needs its digits");
  std::string digits(hex.as_string());
  for (std::string_view prefix : {"urn:", "uuid:"}) {
    if (digits.starts_with(prefix)) digits.erase(0, prefix.size());
  }
  std::erase_if(digits, [](char c) { return c == '-' || c == '{' || c == '}'; });
  return to_value(Uuid::parse(digits));
}

std::optional<Value> build_decimal(const Call& call) {
  const Value& number = call["value"];
  if (number.is_double()) return std::nullopt;
  return to_value(number.get<Decimal>());
}

bool is_hashable(const Value& value) {
  return value.kind() != Kind::list && value.kind() != Kind::object && value.kind() != Kind::map;
}

std::optional<Value> build_set(const Call& call) {
  const Value& elements = call["iterable"];
  if (!elements.is_list()) return std::nullopt;
  std::set<Value> seen;
  ListBuilder unique;
  for (const Value& element : elements) {
    if (!is_hashable(element)) refuse("a set cannot hold lists and objects");
    if (seen.insert(element).second) unique.push_back(element);
  }
  return call.make(std::move(unique).build());
}

std::optional<Value> build_deque(const Call& call) {
  const Value& elements = call["iterable"];
  if (!elements.is_list()) return std::nullopt;
  if (call["maxlen"].is_null()) return call.make(elements);
  const auto max_size = call["maxlen"].get<std::size_t>();
  const std::size_t size = elements.size();
  return call.make(elements.slice(size - std::min(size, max_size), size));
}

// The parts of a path, as pathlib splits it: a part that starts with '/' starts over.
std::optional<Value> build_posix_path(const Call& call) {
  std::vector<std::string> parts;
  for (const Value& segment : call["segments"]) {
    std::string_view rest = segment.as_string();
    if (rest.starts_with('/')) parts.assign(1, "/");
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find('/'));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      if (!part.empty() && part != ".") parts.emplace_back(part);
    }
  }
  return make_extension(call.code, call.module, "PosixPath", Value(parts));
}

std::optional<Value> build_windows_path(const Call& call) { return call.make(call["segments"]); }

std::optional<Value> build_pattern(const Call& call) {
  constexpr std::int64_t kUnicode = 32;
  constexpr std::int64_t kAscii = 256;
  const std::int64_t flags = call["flags"].as_int();
  const bool is_text = call["pattern"].is_string();
  // Patterns of text are Unicode unless they say otherwise; Python stores that.
  return call.make(
      list({call["pattern"], is_text && (flags & kAscii) == 0 ? flags | kUnicode : flags}));
}

std::optional<Value> build_send(const Call& call) {
  const Value args = list({call["node"], call["arg"]});
  if (call["timeout"].is_null()) return call.make(args);
  if (!is_instance(call["timeout"], "langgraph.types", "TimeoutPolicy")) return std::nullopt;
  return call.make(args.append(call["timeout"]));
}

std::string xxh3_hex(std::string_view text) {
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(text.data(), text.size()));
  return internal::to_hex({reinterpret_cast<const char*>(hash.digest), sizeof(hash.digest)});
}

// Interrupts of old releases had their namespace instead of an id, which is now
// the hash of it.
std::optional<Value> build_interrupt(const Call& call) {
  const Value& path = call.others["ns"];
  if (!path.is_list() || call["id"] != Value("placeholder-id")) return call.make(call.arguments);
  std::string joined;
  for (const Value& part : path) {
    if (!joined.empty()) joined += '|';
    joined += part.as_string();
  }
  return call.make(call.arguments.set("id", xxh3_hex(joined)));
}

constexpr Parameter kContent[] = {{"content", "null"}};
constexpr Parameter kDocument[] = {{"page_content"}, {"metadata", "{}"}, {"id", "null"}};
constexpr Parameter kDate[] = {{"year"}, {"month"}, {"day"}};
constexpr Parameter kDatetime[] = {{"year"},
                                   {"month"},
                                   {"day"},
                                   {"hour", "0"},
                                   {"minute", "0"},
                                   {"second", "0"},
                                   {"microsecond", "0"},
                                   {"tzinfo", "null"},
                                   {"fold", "0"}};
constexpr Parameter kTime[] = {{"hour", "0"},        {"minute", "0"},    {"second", "0"},
                               {"microsecond", "0"}, {"tzinfo", "null"}, {"fold", "0"}};
constexpr Parameter kTimedelta[] = {{"days", "0"},         {"seconds", "0"}, {"microseconds", "0"},
                                    {"milliseconds", "0"}, {"minutes", "0"}, {"hours", "0"},
                                    {"weeks", "0"}};
constexpr Parameter kTimezone[] = {{"offset"}, {"name", "null"}};
constexpr Parameter kUuid[] = {{"hex", "null"}};
constexpr Parameter kDecimal[] = {{"value", "\"0\""}};
constexpr Parameter kSet[] = {{"iterable", "[]"}};
constexpr Parameter kDeque[] = {{"iterable", "[]"}, {"maxlen", "null"}};
constexpr Parameter kAddress[] = {{"address"}};
constexpr Parameter kZone[] = {{"key"}};
constexpr Parameter kPath[] = {{"segments"}};
constexpr Parameter kPattern[] = {{"pattern"}, {"flags", "0"}};
constexpr Parameter kSend[] = {{"node"}, {"arg"}, {"timeout", "null"}};
constexpr Parameter kTimeoutPolicy[] = {
    {"run_timeout", "null"}, {"idle_timeout", "null"}, {"refresh_on", "\"auto\""}};
constexpr Parameter kInterrupt[] = {
    {"value"}, {"id", "\"placeholder-id\""}, {"response_schema", "null"}};
constexpr Parameter kCommand[] = {
    {"graph", "null"}, {"update", "null"}, {"resume", "null"}, {"goto", "[]"}};
constexpr Parameter kOverwrite[] = {{"value"}, {"type", "\"__overwrite__\""}};
constexpr Parameter kStateSnapshot[] = {{"values"},   {"next"},       {"config"},
                                        {"metadata"}, {"created_at"}, {"parent_config"},
                                        {"tasks"},    {"interrupts"}};
constexpr Parameter kPregelTask[] = {{"id"},
                                     {"name"},
                                     {"path"},
                                     {"error", "null"},
                                     {"interrupts", "[]"},
                                     {"state", "null"},
                                     {"result", "null"}};
constexpr Parameter kItem[] = {{"namespace"}, {"key"}, {"value"}, {"created_at"}, {"updated_at"}};
constexpr Parameter kGetOp[] = {{"namespace"}, {"key"}, {"refresh_ttl", "true"}};

constexpr auto kOne = ExtensionCode::construct;
constexpr auto kArgs = ExtensionCode::construct_args;
constexpr auto kKwargs = ExtensionCode::construct_kwargs;

constexpr auto kConstructors = std::to_array<Constructor>({
    {"datetime", "datetime", ExtensionCode::call_method, kDatetime, 8, build_datetime},
    {"datetime", "date", kArgs, kDate, 3, build_date},
    {"datetime", "time", kKwargs, kTime, 5, build_time},
    {"datetime", "timedelta", kArgs, kTimedelta, 7, build_timedelta},
    {"datetime", "timezone", kArgs, kTimezone, 2, build_timezone},
    {"uuid", "UUID", kOne, kUuid, 1, build_uuid, true},
    {"decimal", "Decimal", kOne, kDecimal, 1, build_decimal},
    {"builtins", "set", kOne, kSet, 1, build_set},
    {"builtins", "frozenset", kOne, kSet, 1, build_set},
    {"collections", "deque", kOne, kDeque, 2, build_deque},
    {"ipaddress", "IPv4Address", kOne, kAddress, 1, build_from_text},
    {"ipaddress", "IPv4Interface", kOne, kAddress, 1, build_from_text},
    {"ipaddress", "IPv4Network", kOne, kAddress, 1, build_from_text},
    {"ipaddress", "IPv6Address", kOne, kAddress, 1, build_from_text},
    {"ipaddress", "IPv6Interface", kOne, kAddress, 1, build_from_text},
    {"ipaddress", "IPv6Network", kOne, kAddress, 1, build_from_text},
    {"pathlib", "Path", kArgs, kPath, kVariadic, build_posix_path},
    {"pathlib", "PosixPath", kArgs, kPath, kVariadic, build_posix_path},
    {"pathlib", "WindowsPath", kArgs, kPath, kVariadic, build_windows_path},
    {"pathlib._local", "Path", kArgs, kPath, kVariadic, build_posix_path},
    {"pathlib._local", "PosixPath", kArgs, kPath, kVariadic, build_posix_path},
    {"pathlib._local", "WindowsPath", kArgs, kPath, kVariadic, build_windows_path},
    {"zoneinfo", "ZoneInfo", kOne, kZone, 1, build_from_text},
    {"re", "compile", kArgs, kPattern, 2, build_pattern},
    {"langchain_core.documents.base", "Document", ExtensionCode::pydantic_v2, kDocument, 1,
     build_document, true},
    {"langgraph.types", "Send", kArgs, kSend, 2, build_send},
    {"langgraph.types", "TimeoutPolicy", kKwargs, kTimeoutPolicy, 0, build_from_fields},
    {"langgraph.types", "Interrupt", kKwargs, kInterrupt, 2, build_interrupt, true},
    {"langgraph.types", "Command", kKwargs, kCommand, 0, build_from_fields},
    {"langgraph.types", "Overwrite", kKwargs, kOverwrite, 2, build_from_fields},
    {"langgraph.types", "StateSnapshot", kKwargs, kStateSnapshot, 8, build_from_fields},
    {"langgraph.types", "PregelTask", kKwargs, kPregelTask, 7, build_from_fields},
    {"langgraph.store.base", "Item", ExtensionCode::pydantic_v1, kItem, 0, build_from_fields},
    {"langgraph.store.base", "GetOp", kKwargs, kGetOp, 3, build_from_fields},
});

std::optional<Constructor> find_constructor(std::string_view module, std::string_view name) {
  for (const Constructor& constructor : kConstructors) {
    if (constructor.module == module && constructor.name == name) return constructor;
  }
  const internal::MessageClassInfo* message = internal::find_message_class(name);
  if (message == nullptr || message->module != module) return std::nullopt;
  return Constructor{message->module, message->name, ExtensionCode::pydantic_v2, kContent, 1,
                     build_message,   true};
}

}  // namespace

std::optional<Value> call_constructor(std::string_view module, std::string_view name,
                                      const Value& args, const Value& kwargs) {
  const std::optional<Constructor> constructor = find_constructor(module, name);
  if (!constructor) return std::nullopt;
  try {
    const Call call{constructor->module, constructor->name, constructor->code,
                    bind(*constructor, args, kwargs), other_keywords(*constructor, kwargs)};
    return constructor->build(call);
  } catch (const ValueError&) {
    return Value();
  }
}

}  // namespace clew::serde
