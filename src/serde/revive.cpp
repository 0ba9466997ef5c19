#include "serde/revive.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <clew/extension.hpp>

#include "serde/python_constructor.hpp"
#include "value/hex.hpp"
#include "value/message_class.hpp"

namespace clew::serde {

namespace {

constexpr int kMaxDepth = 1100;

bool is_marker(const Value& object, int version, std::string_view type) {
  return object["lc"] == Value(version) && object["type"] == Value(type);
}

// The parts of a class path, or nothing if `id` is not one.
std::vector<std::string_view> class_path(const Value& id) {
  std::vector<std::string_view> path;
  if (!id.is_list()) return path;
  for (const Value& part : id) {
    if (!part.is_string()) return {};
    path.push_back(part.as_string());
  }
  return path;
}

std::string join(const std::vector<std::string_view>& path, std::size_t count) {
  std::string joined;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) joined += '.';
    joined += path[i];
  }
  return joined;
}

// Where a class of this name is today, if `module` is or once was its place.
std::optional<std::string_view> langchain_module(std::string_view module, std::string_view name) {
  constexpr std::string_view kDocumentModule = "langchain_core.documents.base";
  if (name == "Document") {
    for (std::string_view known : {kDocumentModule, std::string_view("langchain_core.documents"),
                                   std::string_view("langchain.schema.document")}) {
      if (module == known) return kDocumentModule;
    }
    return std::nullopt;
  }
  const internal::MessageClassInfo* message = internal::find_message_class(name);
  if (message == nullptr) return std::nullopt;
  for (std::string_view known :
       {message->module, std::string_view("langchain_core.messages"),
        std::string_view("langchain.schema.messages"), std::string_view("langchain.schema")}) {
    if (module == known) return message->module;
  }
  return std::nullopt;
}

std::optional<Value> revive_langchain(const Value& object, const Value& kwargs) {
  if (is_marker(object, 1, "secret")) return Value();
  if (!is_marker(object, 1, "constructor")) return std::nullopt;
  const auto path = class_path(object["id"]);
  if (path.size() < 2) return std::nullopt;
  const std::string_view name = path.back();
  const auto module = langchain_module(join(path, path.size() - 1), name);
  if (!module) return std::nullopt;
  const std::optional<Value> revived = call_constructor(*module, name, Value(), kwargs);
  // Python stops here with an error; the plain object keeps the rest readable.
  return revived && revived->is_null() ? std::nullopt : revived;
}

std::optional<Value> revive_python(const Value& object) {
  if (!is_marker(object, 2, "constructor")) return revive_langchain(object, object["kwargs"]);
  const auto path = class_path(object["id"]);
  if (path.size() < 2) return std::nullopt;
  return call_constructor(join(path, path.size() - 1), path.back(), object["args"],
                          object["kwargs"]);
}

std::string escape(char c) {
  switch (c) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return "\\x" + internal::to_hex({&c, 1});
  }
}

// The text as Python's repr() shows it.
std::string python_repr(std::string_view text) {
  const bool double_quoted = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = double_quoted ? '"' : '\'';
  std::string repr(1, quote);
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    if (c == quote || c == '\\') repr += '\\';
    if (is_control) {
      repr += escape(c);
    } else {
      repr += c;
    }
  }
  return repr += quote;
}

std::optional<Value> revive_js_map(const Value& pairs) {
  std::vector<std::pair<Value, Value>> entries;
  for (const Value& pair : pairs) {
    if (!pair.is_list() || pair.size() != 2) return std::nullopt;
    entries.emplace_back(pair[0], pair[1]);
  }
  return detail::make_map(entries);
}

std::optional<Value> revive_js_bytes(const Value& numbers) {
  std::string bytes;
  for (const Value& number : numbers) {
    if (!number.is_int() || number.as_int() < 0 || number.as_int() > 255) return std::nullopt;
    bytes += static_cast<char>(number.as_int());
  }
  return Value::bytes(bytes);
}

std::optional<Value> revive_js_pattern(const Value& pattern, const Value& flags) {
  struct Flag {
    char letter;
    int value;
  };
  // The others (g, y, d, u, v) say how to search, or what Python does anyway.
  constexpr auto kFlags = std::to_array<Flag>({{'i', 2}, {'m', 8}, {'s', 16}});
  if (!pattern.is_string() || !flags.is_string()) return std::nullopt;
  int python_flags = 0;
  for (const Flag& flag : kFlags) {
    if (flags.as_string().find(flag.letter) != std::string_view::npos) python_flags |= flag.value;
  }
  return call_constructor("re", "compile", list({pattern, python_flags}), Value());
}

std::optional<Value> revive_js_constructor(const Value& object) {
  const auto path = class_path(object["id"]);
  if (path.empty()) return std::nullopt;
  const std::string_view name = path.back();
  const Value& args = object["args"];
  if (name.ends_with("Error") && args[0].is_string()) {
    return Value(std::string(name) + "(" + python_repr(args[0].as_string()) + ")");
  }
  if (name == "RegExp") return revive_js_pattern(args[0], args.size() > 1 ? args[1] : Value(""));
  if (!args.empty() && !args[0].is_list()) return std::nullopt;
  if (name == "Set") return detail::make_set(args.empty() ? list() : args[0]);
  if (name == "Map") return revive_js_map(args[0]);
  if (name == "Uint8Array") return revive_js_bytes(args[0]);
  return std::nullopt;
}

// A field that was undefined is one that was not given.
Value without_nulls(const Value& object) {
  if (!object.is_object()) return object;
  ObjectBuilder rest;
  for (const auto& [key, field] : object.items()) {
    if (!field.is_null()) rest.set(key, field);
  }
  return std::move(rest).build();
}

std::optional<Value> revive_js_command(const Value& object) {
  return call_constructor("langgraph.types", "Command", Value(),
                          without_nulls(object.erase("lg_name")));
}

// A Send has no marker of its own: it is an object with just these two keys.
bool is_js_send(const Value& object) {
  const std::size_t own_keys = object["lg_name"] == Value("Send") ? 3 : 2;
  return object.size() == own_keys && object["node"].is_string() && object.contains("args");
}

std::optional<Value> revive_javascript(const Value& object) {
  if (is_marker(object, 2, "undefined")) return Value();
  if (is_marker(object, 2, "delta_snapshot")) {
    return make_extension(ExtensionCode::delta_snapshot, object["value"]);
  }
  if (is_marker(object, 2, "constructor")) return revive_js_constructor(object);
  if (object["lg_name"] == Value("Command")) return revive_js_command(object);
  if (is_js_send(object)) {
    return call_constructor("langgraph.types", "Send", list({object["node"], object["args"]}),
                            Value());
  }
  return revive_langchain(object, without_nulls(object["kwargs"]));
}

class Reviver {
 public:
  explicit Reviver(Dialect dialect) : dialect_(dialect) {}

  // Children first, so that arguments are values by the time they are used.
  Value revive(const Value& value, int depth) const {
    if (depth > kMaxDepth) throw SerdeError("the JSON is nested deeper than 1100 levels");
    if (value.is_list()) return revive_elements(value, depth + 1);
    if (!value.is_object()) return value;
    Value object = revive_fields(value, depth + 1);
    std::optional<Value> revived =
        dialect_ == Dialect::python ? revive_python(object) : revive_javascript(object);
    return revived ? *std::move(revived) : object;
  }

 private:
  // Both copy a container only if something in it changed.
  Value revive_elements(const Value& list, int depth) const {
    std::optional<ListBuilder> changed;
    std::size_t index = 0;
    for (const Value& element : list) {
      Value revived = revive(element, depth);
      if (!changed && !same(revived, element)) {
        changed.emplace();
        for (std::size_t i = 0; i < index; ++i) changed->push_back(list[i]);
      }
      if (changed) changed->push_back(std::move(revived));
      ++index;
    }
    return changed ? std::move(*changed).build() : list;
  }

  Value revive_fields(const Value& object, int depth) const {
    std::optional<ObjectBuilder> changed;
    const ValueItems fields = object.items();
    for (std::size_t index = 0; index < fields.size(); ++index) {
      const auto [key, field] = fields[index];
      Value revived = revive(field, depth);
      if (!changed && !same(revived, field)) {
        changed.emplace();
        for (std::size_t i = 0; i < index; ++i) changed->set(fields[i].key, fields[i].value);
      }
      if (changed) changed->set(key, std::move(revived));
    }
    return changed ? std::move(*changed).build() : object;
  }

  Dialect dialect_;
};

}  // namespace

Value revive(const Value& parsed, Dialect dialect) { return Reviver(dialect).revive(parsed, 0); }

}  // namespace clew::serde
