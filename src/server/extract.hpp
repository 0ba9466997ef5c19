// Parts of a value by paths such as "values.messages[-1].content".
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <clew/value.hpp>

namespace clew::server {

struct ExtractPath {
  std::string alias;
  std::vector<std::variant<std::string, std::int64_t>> steps;
};

// Of {alias: path}. Throws ServiceError 422 for what is no path.
std::vector<ExtractPath> extract_paths(const Value& extract);

// {alias: what is there, or null}
Value extract(const Value& value, const std::vector<ExtractPath>& paths);

}  // namespace clew::server
