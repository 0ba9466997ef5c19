#include "server/extract.hpp"

#include <charconv>

#include "server/service_error.hpp"

namespace clew::server {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw ServiceError(422, "\"" + path + "\" is no path such as \"values.messages[-1].content\"");
}

ExtractPath parse_path(std::string alias, const std::string& path) {
  ExtractPath result{std::move(alias), {}};
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(".["), rest.size());
    if (end == 0) fail(path);
    result.steps.emplace_back(std::string(rest.substr(0, end)));
    rest.remove_prefix(end);
    while (rest.starts_with('[')) {
      std::int64_t index = 0;
      const auto [stop, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), index);
      if (error != std::errc() || stop == rest.data() + rest.size() || *stop != ']') fail(path);
      result.steps.emplace_back(index);
      rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()) + 1);
    }
    if (rest.empty()) break;
    if (!rest.starts_with('.') || rest.size() == 1) fail(path);
    rest.remove_prefix(1);
  }
  if (result.steps.empty()) fail(path);
  return result;
}

Value part_of(Value value, const ExtractPath& path) {
  for (const auto& step : path.steps) {
    if (const auto* key = std::get_if<std::string>(&step)) {
      value = value.is_object() ? value[*key] : Value();
      continue;
    }
    std::int64_t index = std::get<std::int64_t>(step);
    if (!value.is_list()) return {};
    if (index < 0) index += static_cast<std::int64_t>(value.size());
    value = value[index];
  }
  return value;
}

}  // namespace

std::vector<ExtractPath> extract_paths(const Value& extract) {
  std::vector<ExtractPath> paths;
  if (extract.is_null()) return paths;
  for (auto [alias, path] : extract.items()) {
    if (!path.is_string()) throw ServiceError(422, "\"extract\" holds no path");
    paths.push_back(parse_path(std::string(alias), path.get<std::string>()));
  }
  return paths;
}

Value extract(const Value& value, const std::vector<ExtractPath>& paths) {
  ObjectBuilder extracted;
  for (const ExtractPath& path : paths) extracted.set(path.alias, part_of(value, path));
  return std::move(extracted).build();
}

}  // namespace clew::server
