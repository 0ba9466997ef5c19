#include "store/text_path.hpp"

#include <charconv>
#include <optional>
#include <span>

#include <clew/json.hpp>

#include "value/python_text.hpp"

namespace clew::store {

namespace {

// From the opening bracket at `begin` to behind the one that closes it.
std::size_t end_of_group(std::string_view path, std::size_t begin, char open, char close) {
  int depth = 0;
  for (std::size_t i = begin; i < path.size(); ++i) {
    if (path[i] == open) ++depth;
    if (path[i] == close && --depth == 0) return i + 1;
  }
  return path.size();
}

std::vector<std::string> tokenize(std::string_view path) {
  std::vector<std::string> tokens;
  std::string name;
  const auto finish_name = [&] {
    if (!name.empty()) tokens.push_back(std::move(name));
    name.clear();
  };
  for (std::size_t i = 0; i < path.size();) {
    const char c = path[i];
    if (c == '[' || c == '{') {
      finish_name();
      const std::size_t end = end_of_group(path, i, c, c == '[' ? ']' : '}');
      tokens.emplace_back(path.substr(i, end - i));
      i = end;
      continue;
    }
    if (c == '.') {
      finish_name();
    } else {
      name += c;
    }
    ++i;
  }
  finish_name();
  return tokens;
}

std::string json_text(const Value& value) {
  return to_json(value, {.spaced = true, .sort_keys = true, .non_finite = NonFinite::literal});
}

std::optional<std::string> text_of(const Value& value) {
  if (value.is_list() || value.is_object()) return json_text(value);
  return internal::python_scalar_text(value);
}

void add_text(const Value& value, std::vector<std::string>& texts) {
  if (std::optional<std::string> text = text_of(value)) texts.push_back(*std::move(text));
}

// "-1" counts from the end.
const Value* element(const Value& list, std::string_view index_text) {
  std::int64_t index = 0;
  const char* end = index_text.data() + index_text.size();
  const auto [parsed, error] = std::from_chars(index_text.data(), end, index);
  if (error != std::errc() || parsed != end) return nullptr;
  const auto size = static_cast<std::int64_t>(list.size());
  if (index < 0) index += size;
  return index >= 0 && index < size ? &list[index] : nullptr;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// The fields of "a,b.c", each a path of names.
void add_fields(const Value& object, std::string_view fields, std::vector<std::string>& texts) {
  for (std::size_t begin = 0; begin <= fields.size();) {
    const std::size_t end = std::min(fields.find(',', begin), fields.size());
    const std::vector<std::string> names = tokenize(trimmed(fields.substr(begin, end - begin)));
    const Value* value = names.empty() ? nullptr : &object;
    for (const std::string& name : names) value = value ? value->find(name) : nullptr;
    if (value) add_text(*value, texts);
    begin = end + 1;
  }
}

void extract(const Value& value, std::span<const std::string> tokens,
             std::vector<std::string>& texts) {
  if (tokens.empty()) return add_text(value, texts);
  const std::string_view token = tokens.front();
  const auto rest = tokens.subspan(1);
  const auto extract_all = [&](const Value& list) {
    for (const Value& item : list) extract(item, rest, texts);
  };
  if (token.starts_with('[') && token.ends_with(']')) {
    if (!value.is_list()) return;
    const std::string_view index = token.substr(1, token.size() - 2);
    if (index == "*") return extract_all(value);
    if (const Value* item = element(value, index)) extract(*item, rest, texts);
  } else if (token.starts_with('{') && token.ends_with('}')) {
    if (value.is_object()) add_fields(value, token.substr(1, token.size() - 2), texts);
  } else if (token == "*") {
    if (value.is_list()) extract_all(value);
    if (!value.is_object()) return;
    for (auto [key, item] : value.items()) extract(item, rest, texts);
  } else if (const Value* item = value.find(token)) {
    extract(*item, rest, texts);
  }
}

}  // namespace

TextPath::TextPath(std::string_view path) : path_(path) {
  if (path != "$") tokens_ = tokenize(path);
}

std::vector<std::string> TextPath::texts(const Value& value) const {
  std::vector<std::string> texts;
  if (tokens_.empty()) {
    texts.push_back(json_text(value));
  } else {
    extract(value, tokens_, texts);
  }
  return texts;
}

}  // namespace clew::store
