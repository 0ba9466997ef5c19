#include "server/config_section.hpp"

#include <algorithm>
#include <cmath>

#include <clew/json.hpp>

#include "value/joined.hpp"

namespace clew::server {
namespace {

// Walks over JSON text that is known to be valid.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t position() const { return position_; }

  // From the start of an object to the value of `key`. Returns where the key
  // stands, or nothing if it is not there.
  std::optional<std::size_t> enter(std::string_view key) {
    skip_space();
    if (peek() != '{') return std::nullopt;
    ++position_;
    std::optional<std::size_t> found;
    std::size_t value = 0;
    for (skip_space(); peek() != '}'; skip_space()) {
      if (peek() == ',') {
        ++position_;
        continue;
      }
      const std::size_t at = position_;
      const Value name = parse_json(string());
      skip_space();
      ++position_;  // the colon
      skip_space();
      // Of several the last one counts.
      if (name == Value(key)) {
        found = at;
        value = position_;
      }
      skip_value();
    }
    position_ = value;
    return found;
  }

 private:
  char peek() const { return position_ < text_.size() ? text_[position_] : '}'; }
  void skip_space() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
  }
  std::string_view string() {
    const std::size_t begin = position_++;
    while (peek() != '"') position_ += peek() == '\\' ? 2 : 1;
    ++position_;
    return text_.substr(begin, position_ - begin);
  }
  void skip_value() {
    int depth = 0;
    do {
      skip_space();
      const char c = peek();
      if (c == '"') {
        string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++position_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++position_;
      } else if (c == ',' || c == ':') {
        ++position_;
      } else {
        position_ = std::min(text_.find_first_of(" \t\r\n,:]}", position_), text_.size());
      }
    } while (depth > 0);
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

// What was found, short enough for a message.
std::string shown(const Value& value) {
  std::string text = to_json(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace

std::size_t line_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::size_t line_of(std::string_view text, const std::vector<std::string>& path) {
  Walker walker(text);
  std::size_t position = 0;
  for (const std::string& key : path) {
    const std::optional<std::size_t> found = walker.enter(key);
    if (!found) break;
    position = *found;
  }
  return line_at(text, position);
}

ConfigSection::ConfigSection(ConfigDocument& document) : document_(&document) {
  try {
    value_ = parse_json(document.text);
  } catch (const SerdeError& error) {
    const std::size_t line = line_at(document.text, error.offset().value_or(0));
    throw ConfigError(document.name + ":" + std::to_string(line) +
                      ": this is not JSON: " + error.reason());
  }
  if (!value_.is_object()) {
    throw ConfigError(document.name + ": expected an object, found " + shown(value_));
  }
}

ConfigSection::ConfigSection(ConfigDocument& document, Value value, std::vector<std::string> path)
    : document_(&document), value_(std::move(value)), path_(std::move(path)) {}

std::string ConfigSection::place(std::string_view key) const {
  std::vector<std::string> path = path_;
  if (!key.empty()) path.emplace_back(key);
  const std::string line = std::to_string(line_of(document_->text, path));
  return document_->name + ":" + line + ": " + internal::joined(path, ".");
}

void ConfigSection::fail(std::string_view key, const std::string& problem) const {
  throw ConfigError(place(key) + ": " + problem);
}

void ConfigSection::warn(std::string_view key, const std::string& problem) const {
  document_->warnings.push_back(place(key) + ": " + problem);
}

void ConfigSection::expected(std::string_view key, std::string_view form) const {
  fail(key, "expected " + std::string(form) + ", found " + shown(value_[key]));
}

const Value* ConfigSection::find(std::string_view key) {
  known_.emplace_back(key);
  const Value* value = value_.find(key);
  return value && !value->is_null() ? value : nullptr;
}

std::optional<std::string> ConfigSection::text(std::string_view key) {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_string()) expected(key, "text");
  return std::string(value->as_string());
}

std::optional<bool> ConfigSection::boolean(std::string_view key) {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_bool()) expected(key, "true or false");
  return value->as_bool();
}

std::optional<std::size_t> ConfigSection::positive(std::string_view key) {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_int() || value->as_int() <= 0) expected(key, "a positive integer");
  return static_cast<std::size_t>(value->as_int());
}

std::optional<double> ConfigSection::positive_number(std::string_view key) {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  const bool is_number = value->is_int() || value->is_double();
  if (!is_number || value->as_double() <= 0) expected(key, "a positive number");
  return value->as_double();
}

std::optional<std::chrono::milliseconds> ConfigSection::minutes(std::string_view key) {
  const std::optional<double> number = positive_number(key);
  if (!number) return std::nullopt;
  constexpr double kCentury = 100.0 * 365 * 24 * 60;
  if (*number > kCentury) expected(key, "minutes, at most a hundred years of them");
  return std::chrono::milliseconds(std::llround(*number * 60'000));
}

std::optional<std::vector<std::string>> ConfigSection::texts(std::string_view key) {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  const auto is_text = [](const Value& element) { return element.is_string(); };
  if (!value->is_list() || !std::all_of(value->begin(), value->end(), is_text)) {
    expected(key, "a list of texts");
  }
  return value->get<std::vector<std::string>>();
}

std::optional<std::string> ConfigSection::choice(std::string_view key,
                                                 const std::vector<std::string>& choices) {
  std::optional<std::string> chosen = text(key);
  if (chosen && std::find(choices.begin(), choices.end(), *chosen) == choices.end()) {
    expected(key, "one of " + internal::joined(choices, ", "));
  }
  return chosen;
}

std::optional<ConfigSection> ConfigSection::section(std::string_view key) {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_object()) expected(key, "an object");
  std::vector<std::string> path = path_;
  path.emplace_back(key);
  return ConfigSection(*document_, *value, std::move(path));
}

void ConfigSection::ignore(const std::vector<std::string_view>& keys) {
  known_.insert(known_.end(), keys.begin(), keys.end());
}

std::vector<std::string> ConfigSection::keys() const {
  std::vector<std::string> names;
  for (auto [key, value] : value_.items()) names.emplace_back(key);
  return names;
}

void ConfigSection::finish() {
  for (const std::string& key : keys()) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      warn(key, "unknown key; it is ignored");
    }
  }
}

}  // namespace clew::server
