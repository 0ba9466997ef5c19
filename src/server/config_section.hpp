// Reads a JSON document key by key, with errors that name the key and its line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <clew/value.hpp>

#include "server/config.hpp"

namespace clew::server {

// The document that sections are parts of.
struct ConfigDocument {
  std::string text;
  std::string name;  // as messages call it: "clew.json"
  std::vector<std::string> warnings;
};

// An object of the document. Keys are asked for one by one; finish() warns of the others.
class ConfigSection {
 public:
  // The whole document. Throws ConfigError if it is not one JSON object.
  explicit ConfigSection(ConfigDocument& document);

  // Each is nothing if the key is not there or null, and throws ConfigError if
  // what is there is of another form.
  std::optional<std::string> text(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::size_t> positive(std::string_view key);
  std::optional<double> positive_number(std::string_view key);
  // Minutes, as a number.
  std::optional<std::chrono::milliseconds> minutes(std::string_view key);
  std::optional<std::vector<std::string>> texts(std::string_view key);
  std::optional<ConfigSection> section(std::string_view key);
  // One of these texts.
  std::optional<std::string> choice(std::string_view key, const std::vector<std::string>& choices);
  // Whatever it is.
  const Value* find(std::string_view key);
  // Keys that mean something elsewhere.
  void ignore(const std::vector<std::string_view>& keys);

  const Value& value() const { return value_; }
  std::vector<std::string> keys() const;
  void finish();

  // "clew.json:4: store.index.dims: ..." about a key of this section, or, if
  // `key` is empty, about the section.
  [[noreturn]] void fail(std::string_view key, const std::string& problem) const;
  void warn(std::string_view key, const std::string& problem) const;

 private:
  ConfigSection(ConfigDocument& document, Value value, std::vector<std::string> path);
  std::string place(std::string_view key) const;
  [[noreturn]] void expected(std::string_view key, std::string_view form) const;

  ConfigDocument* document_;
  Value value_;
  std::vector<std::string> path_;
  std::vector<std::string> known_;
};

// The line, from 1, of the key that `path` leads to in valid JSON text; of the
// last part that is there.
std::size_t line_of(std::string_view text, const std::vector<std::string>& path);
// The line of a byte.
std::size_t line_at(std::string_view text, std::size_t offset);

}  // namespace clew::server
