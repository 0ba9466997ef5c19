// Texts one after the other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clew::internal {

inline std::string joined(const std::vector<std::string>& texts, std::string_view separator) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) all += separator;
    all += texts[i];
  }
  return all;
}

}  // namespace clew::internal
