#include <clew/convert.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>
#include <system_error>

#include <clew/extension.hpp>

#include "value/float_text.hpp"
#include "value/object.hpp"

namespace clew::detail {

namespace {

constexpr std::string_view kHere = "$";
constexpr std::size_t kShownText = 40;

std::string quoted(std::string_view text) {
  std::string shown(text.substr(0, kShownText));
  if (text.size() > kShownText) shown += "...";
  return '"' + shown + '"';
}

bool is_integer(const Value& value) {
  return value.kind() == Kind::integer || value.kind() == Kind::big_integer;
}

bool by_key(const std::pair<Value, Value>& a, const std::pair<Value, Value>& b) {
  return (a.first <=> b.first) < 0;
}

bool before(const Value& a, const Value& b) { return (a <=> b) < 0; }

[[noreturn]] void throw_here(const std::string& reason) {
  throw ValueError(std::string(kHere), reason);
}

std::string not_what_was_expected(std::string_view expected, std::string_view found) {
  return "expected " + std::string(expected) + ", found " + std::string(found);
}

}  // namespace

void throw_expected(std::string_view expected, const Value& found) {
  throw_here(not_what_was_expected(expected, found.type_name()));
}

void throw_size(std::size_t expected, const Value& list) {
  throw_here("expected list of " + std::to_string(expected) + ", found list of " +
             std::to_string(list.size()));
}

void throw_integer(std::int64_t min, std::uint64_t max, const Value& found) {
  if (!is_integer(found)) throw_expected("int", found);
  throw_here("expected int in " + std::to_string(min) + ".." + std::to_string(max) + ", found " +
             found.integer_text());
}

void check_float(double number) {
  const double magnitude = number < 0 ? -number : number;
  if (magnitude > std::numeric_limits<float>::max() &&
      magnitude <= std::numeric_limits<double>::max()) {
    char text[internal::kFloatTextSize];
    throw_here("expected float of 32 bits, found " +
               std::string(text, internal::write_float(number, text)));
  }
}

void throw_missing(std::string_view field, std::string_view expected) {
  throw ValueError(std::string(kHere) + path_step(field),
                   "missing (expected " + std::string(expected) + ")");
}

void throw_enumerator(std::string_view expected, const Value& found) {
  if (!found.is_string()) throw_expected(expected, found);
  throw_here(not_what_was_expected(expected, quoted(found.as_string())));
}

void throw_unnamed_enumerator(std::string_view type, std::int64_t value) {
  throw ValueError(std::string(type) + " has no enumerator of value " + std::to_string(value) +
                   "; name it in CLEW_ENUM(" + std::string(type) + ", ...)");
}

namespace {

bool is_text(const Value& value, std::string_view text) {
  // Short text is the same if its two words are.
  if (text.size() > ValueAccess::kInlineText) return ValueAccess::text_of(value) == text;
  return ValueAccess::same_words(value, ValueAccess::text(Kind::string, text));
}

}  // namespace

const Value* FieldFinder::find(std::string_view name) noexcept {
  const Node* node = ValueAccess::node(object_);
  if (!object_.is_object() || !node) return nullptr;
  if (node->type == kFlatObject && next_ < node->count) {
    const auto* object = static_cast<const FlatObject*>(node);
    if (is_text(object->shape()->keys()[next_], name)) return &object->values()[next_++];
  }
  const std::size_t position = object_find(node, name);
  if (position == kNotFound) return nullptr;
  next_ = position + 1;
  return &object_value(node, position);
}

void check_fields(const Value& object, std::string_view type,
                  std::span<const std::string_view> names) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    std::string known;
    for (std::string_view name : names) known += (known.empty() ? "" : ", ") + std::string(name);
    throw ValueError(
        std::string(kHere) + path_step(key),
        "unknown field; " + std::string(type) + " has " + (known.empty() ? "none" : known));
  }
}

void throw_no_alternative(std::span<const Attempt> attempts, const Value& found) {
  std::string expected;
  std::string details;
  for (const Attempt& attempt : attempts) {
    expected += (expected.empty() ? "" : " or ") + attempt.expected;
    const std::string& path = attempt.error.path();
    const std::string& reason = attempt.error.reason();
    const std::string inner = path.size() <= 1 ? "" : path.substr(1) + ": ";
    // That the kind differs is said once for all alternatives.
    if (inner.empty() && reason == not_what_was_expected(attempt.expected, found.type_name())) {
      continue;
    }
    details += "; as " + attempt.expected + ": " + inner + reason;
  }
  throw_here(not_what_was_expected(expected, found.type_name()) + details);
}

std::optional<std::uint64_t> unsigned_integer(const Value& value) {
  if (!is_integer(value)) return std::nullopt;
  const std::string digits = value.integer_text();
  const char* end = digits.data() + digits.size();
  std::uint64_t integer = 0;
  const auto [rest, error] = std::from_chars(digits.data(), end, integer);
  if (error != std::errc() || rest != end) return std::nullopt;
  return integer;
}

Value make_map(std::span<const std::pair<Value, Value>> entries) {
  const bool is_object = std::all_of(entries.begin(), entries.end(),
                                     [](const auto& entry) { return entry.first.is_string(); });
  if (!is_object) return Value::map(entries);
  ObjectBuilder object;
  for (const auto& [key, value] : entries) object.set(key.as_string(), value);
  return std::move(object).build();
}

Value make_sorted_map(std::vector<std::pair<Value, Value>> entries) {
  std::sort(entries.begin(), entries.end(), by_key);
  return make_map(entries);
}

Value make_set(Value elements) {
  return make_extension(ExtensionCode::construct, "builtins", "set", std::move(elements));
}

Value make_sorted_set(std::vector<Value> elements) {
  std::sort(elements.begin(), elements.end(), before);
  ListBuilder list;
  for (Value& element : elements) list.push_back(std::move(element));
  return make_set(std::move(list).build());
}

const Value* set_elements(const Value& value) noexcept {
  if (value.is_list()) return &value;
  if (!is_instance(value, "builtins", "set") && !is_instance(value, "builtins", "frozenset")) {
    return nullptr;
  }
  const Value& elements = value.as_extension().payload;
  return elements.is_list() ? &elements : nullptr;
}

std::string map_step(const Value& key) {
  if (key.is_string()) return path_step(key.as_string());
  std::ostringstream step;
  step << '[' << key << ']';
  return step.str();
}

Value integer_key(const Value& key) {
  return key.is_string() ? Value::integer(key.as_string()) : key;
}

void throw_key(const Value& key, const ValueError& error) {
  throw_here("key " + (key.is_string() ? quoted(key.as_string()) : map_step(key)) + ": " +
             error.reason());
}

}  // namespace clew::detail
