// The texts of an item that are indexed for search.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <clew/value.hpp>

namespace clew::store {

// A path of IndexOptions::fields, read once.
class TextPath {
 public:
  explicit TextPath(std::string_view path);

  const std::string& path() const { return path_; }

  // What the path leads to in `value`: text as it is, numbers and booleans as
  // Python prints them, lists and objects as JSON. Nothing for null and for
  // what is not there.
  std::vector<std::string> texts(const Value& value) const;

 private:
  std::string path_;
  std::vector<std::string> tokens_;  // names, "*", "[3]", "{a,b.c}"; none for the whole value
};

}  // namespace clew::store
