#include "cli/near.hpp"

#include <algorithm>
#include <numeric>

namespace clew::cli {
namespace {

constexpr std::size_t kMostNames = 3;

// How many characters to insert, remove or replace to make one the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> near_names(std::string_view text, const std::vector<std::string>& names) {
  const std::size_t most = std::max<std::size_t>(2, text.size() / 4);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : names) {
    const bool contains = text.size() >= 3 && name.find(text) != std::string::npos;
    const std::size_t far = contains ? 0 : distance(text, name);
    if (far <= most && far < std::max(text.size(), name.size())) near.emplace_back(far, name);
  }
  const std::size_t count = std::min(kMostNames, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count), near.end());
  std::vector<std::string> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(near[i].second);
  return result;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& names) {
  const std::vector<std::string> near = near_names(text, names);
  std::string question;
  for (std::size_t i = 0; i < near.size(); ++i) {
    question += i == 0 ? "; did you mean '" : i + 1 == near.size() ? "' or '" : "', '";
    question += near[i];
  }
  return question.empty() ? "" : question + "'?";
}

}  // namespace clew::cli
