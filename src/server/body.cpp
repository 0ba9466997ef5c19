#include "server/body.hpp"

#include <algorithm>

#include "server/service_error.hpp"

namespace clew::server {
namespace {

[[noreturn]] void fail(std::string_view key, std::string_view what) {
  throw ServiceError(422, "\"" + std::string(key) + "\" " + std::string(what));
}

std::string listed(std::initializer_list<std::string_view> choices) {
  std::string text;
  for (const std::string_view choice : choices) {
    text += (text.empty() ? "\"" : ", \"") + std::string(choice) + "\"";
  }
  return text;
}

bool is_among(std::string_view name, std::initializer_list<std::string_view> choices) {
  return std::find(choices.begin(), choices.end(), name) != choices.end();
}

}  // namespace

Body::Body(const Value& body) : body_(body.is_null() ? object() : body) {
  if (!body_.is_object()) throw ServiceError(422, "the body is not of type \"object\"");
}

const Value* Body::find(std::string_view key) const {
  const Value* found = body_.find(key);
  return found && !found->is_null() ? found : nullptr;
}

bool Body::has(std::string_view key) const { return body_.contains(key); }

std::optional<std::string> Body::text(std::string_view key) const {
  const Value* found = find(key);
  if (!found) return std::nullopt;
  if (!found->is_string()) fail(key, "is not of type \"string\"");
  return found->get<std::string>();
}

std::string Body::required_text(std::string_view key) const {
  if (!has(key)) fail(key, "is a required property");
  const auto found = text(key);
  if (!found) fail(key, "is not of type \"string\"");
  return *found;
}

std::optional<bool> Body::flag(std::string_view key) const {
  const Value* found = find(key);
  if (!found) return std::nullopt;
  if (!found->is_bool()) fail(key, "is not of type \"boolean\"");
  return found->as_bool();
}

std::optional<std::int64_t> Body::integer(std::string_view key, std::int64_t least,
                                          std::int64_t most) const {
  const Value* found = find(key);
  if (!found) return std::nullopt;
  if (!found->is_int()) fail(key, "is not of type \"integer\"");
  const std::int64_t number = found->as_int();
  if (number < least) fail(key, "is less than the minimum of " + std::to_string(least));
  if (number > most) fail(key, "is greater than the maximum of " + std::to_string(most));
  return number;
}

std::optional<double> Body::number(std::string_view key, double least) const {
  const Value* found = find(key);
  if (!found) return std::nullopt;
  if (!found->is_int() && !found->is_double()) fail(key, "is not of type \"number\"");
  const double number = found->as_double();
  if (!(number >= least)) fail(key, "is less than the minimum");
  return number;
}

Value Body::object_field(std::string_view key) const {
  const Value* found = find(key);
  if (!found) return {};
  if (!found->is_object()) fail(key, "is not of type \"object\"");
  return *found;
}

Value Body::list_field(std::string_view key) const {
  const Value* found = find(key);
  if (!found) return {};
  if (!found->is_list()) fail(key, "is not of type \"array\"");
  return *found;
}

std::optional<std::vector<std::string>> Body::texts(std::string_view key) const {
  const Value found = list_field(key);
  if (found.is_null()) return std::nullopt;
  std::vector<std::string> texts;
  for (const Value& element : found) {
    if (!element.is_string()) fail(key, "holds something that is not of type \"string\"");
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

std::optional<std::string> Body::choice(std::string_view key,
                                        std::initializer_list<std::string_view> choices) const {
  const auto found = text(key);
  if (found && !is_among(*found, choices)) fail(key, "is not one of " + listed(choices));
  return found;
}

Page Body::page() const {
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
  Page page;
  page.limit = static_cast<std::size_t>(integer("limit", 1, 1000).value_or(10));
  page.offset = static_cast<std::size_t>(integer("offset", 0, kFar).value_or(0));
  return page;
}

Sort Body::sort(std::initializer_list<std::string_view> columns) const {
  Sort sort;
  sort.by = choice("sort_by", columns).value_or("created_at");
  sort.descending = choice("sort_order", {"asc", "desc"}).value_or("desc") == "desc";
  return sort;
}

std::vector<std::string> Body::select(std::initializer_list<std::string_view> columns) const {
  std::vector<std::string> names = texts("select").value_or(std::vector<std::string>());
  check_columns(names, columns);
  return names;
}

void check_columns(const std::vector<std::string>& names,
                   std::initializer_list<std::string_view> columns) {
  for (const std::string& name : names) {
    if (is_among(name, columns)) continue;
    throw ServiceError(422,
                       "Invalid select columns: ['" + name + "']. Expected: " + listed(columns));
  }
}

}  // namespace clew::server
