#include "server/routes/request_parts.hpp"

#include <charconv>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "server/service_error.hpp"

namespace clew::server {
namespace {

ServiceError bad_parameter(std::string_view name, const std::string& expected) {
  return ServiceError(422,
                      "Invalid query parameter '" + std::string(name) + "': expected " + expected);
}

void add_split(std::string_view text, std::vector<std::string>& names) {
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    if (!name.empty()) names.emplace_back(name);
    text.remove_prefix(std::min(text.size(), name.size() + 1));
  }
}

void add_listed(const std::string& json, std::string_view parameter,
                std::vector<std::string>& names) {
  try {
    for (const Value& name : parse_json(json)) names.push_back(name.get<std::string>());
  } catch (const Error&) {
    throw bad_parameter(parameter, "a JSON array of texts");
  }
}

}  // namespace

Value json_body(const Request& request) {
  const std::string* type = request.headers.find("content-type");
  const bool says_json = type != nullptr && type->find("json") != std::string::npos;
  if (request.body.empty() && !says_json) return Value();
  try {
    return parse_json(request.body);
  } catch (const SerdeError&) {
    throw ServiceError(422, "Invalid JSON in request body");
  }
}

std::optional<bool> query_flag(const Request& request, std::string_view name) {
  const std::string* text = request.query.find(name);
  if (text == nullptr || text->empty()) return std::nullopt;
  if (*text == "true" || *text == "True" || *text == "1" || *text == "yes") return true;
  if (*text == "false" || *text == "False" || *text == "0" || *text == "no") return false;
  throw bad_parameter(name, "true or false");
}

std::optional<std::int64_t> query_number(const Request& request, std::string_view name,
                                         std::int64_t least, std::int64_t most) {
  const std::string* text = request.query.find(name);
  if (text == nullptr || text->empty()) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < least ||
      number > most) {
    throw bad_parameter(
        name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

std::vector<std::string> query_names(const Request& request,
                                     std::initializer_list<std::string_view> parameters) {
  std::vector<std::string> names;
  for (const std::string_view parameter : parameters) {
    for (const std::string& text : request.query.all(parameter)) {
      if (text.starts_with('[')) {
        add_listed(text, parameter, names);
      } else {
        add_split(text, names);
      }
    }
  }
  return names;
}

std::string header(const Request& request, std::string_view name) {
  const std::string* value = request.headers.find(name);
  return value == nullptr ? std::string() : *value;
}

}  // namespace clew::server
