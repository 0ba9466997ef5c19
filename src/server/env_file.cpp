// Variables in a file of lines NAME=value.
#include <cctype>

#include "server/config.hpp"

namespace clew::server {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool is_name(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) return false;
  for (const char c : name) {
    if (c != '_' && !std::isalnum(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

// Without its quotes; or, if it has none, up to a comment. Nothing if a quote is not closed.
std::optional<std::string> unquoted(std::string_view value) {
  if (value.empty() || (value.front() != '"' && value.front() != '\'')) {
    const std::size_t comment = value.find(" #");
    return std::string(trimmed(value.substr(0, comment)));
  }
  const char quote = value.front();
  std::string text;
  for (std::size_t i = 1; i < value.size(); ++i) {
    if (value[i] == quote) return text;
    if (quote == '"' && value[i] == '\\' && i + 1 < value.size()) {
      ++i;
      text += value[i] == 'n' ? '\n' : value[i];
    } else {
      text += value[i];
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_env_file(std::string_view text,
                                                                const std::string& name) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    const std::string place = name + ":" + std::to_string(number) + ": ";
    if (line.starts_with("export ")) line = trimmed(line.substr(7));
    const std::size_t equals = line.find('=');
    const std::string_view key = trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || !is_name(key)) {
      throw ConfigError(place + "expected NAME=value");
    }
    const std::optional<std::string> value = unquoted(trimmed(line.substr(equals + 1)));
    if (!value) throw ConfigError(place + "the quote is not closed");
    variables.emplace_back(key, *value);
  }
  return variables;
}

}  // namespace clew::server
