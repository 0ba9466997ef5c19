// Maps by text that find a std::string_view without making a std::string of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace clew::internal {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

template <class T>
using ByText = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

}  // namespace clew::internal
