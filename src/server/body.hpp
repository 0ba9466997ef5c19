// Reads the fields of a request's body. What has the wrong shape is a
// ServiceError 422 that names the field; null counts as absent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/records.hpp"

namespace clew::server {

class Body {
 public:
  // An object, or null for an empty one.
  explicit Body(const Value& body);

  bool has(std::string_view key) const;  // also if it is null
  bool empty() const { return body_.empty(); }
  const Value& operator[](std::string_view key) const { return body_[key]; }
  const Value& value() const { return body_; }

  std::optional<std::string> text(std::string_view key) const;
  std::string required_text(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least,
                                      std::int64_t most) const;
  std::optional<double> number(std::string_view key, double least) const;
  // Null if it is not there.
  Value object_field(std::string_view key) const;
  Value list_field(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;
  std::optional<std::string> choice(std::string_view key,
                                    std::initializer_list<std::string_view> choices) const;

  // "limit" and "offset"; "sort_by" and "sort_order"; "select".
  Page page() const;
  Sort sort(std::initializer_list<std::string_view> columns) const;
  std::vector<std::string> select(std::initializer_list<std::string_view> columns) const;

 private:
  const Value* find(std::string_view key) const;

  Value body_;
};

// Throws ServiceError 422 if one is no column.
void check_columns(const std::vector<std::string>& names,
                   std::initializer_list<std::string_view> columns);

}  // namespace clew::server
