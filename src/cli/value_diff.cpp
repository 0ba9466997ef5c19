#include "cli/value_diff.hpp"

#include <algorithm>
#include <unordered_map>

#include <clew/extension.hpp>
#include <clew/messages.hpp>

namespace clew::cli {
namespace {

// Lists that differ in more elements are not searched for what they have in common.
constexpr std::size_t kMostEdits = 1000;

bool are_equal(const Value& a, const Value& b) { return same(a, b) || a == b; }

// The fields of an object, also of one of a class; else nullptr.
const Value* fields_of(const Value& value) {
  if (value.is_object()) return &value;
  if (!value.is_extension()) return nullptr;
  const Value& payload = value.as_extension().payload;
  return payload.is_object() ? &payload : nullptr;
}

bool have_same_shape(const Value& a, const Value& b) {
  if (a.is_list() && b.is_list()) return true;
  return fields_of(a) && fields_of(b) && a.type_name() == b.type_name();
}

std::optional<std::string> id_of(const Value& value) {
  const Value* fields = is_message(value) || value.is_object() ? fields_of(value) : nullptr;
  if (!fields || !fields->contains("content")) return std::nullopt;
  const Value& id = (*fields)["id"];
  return id.is_string() ? std::optional(std::string(id.as_string())) : std::nullopt;
}

// The places of messages by their ids; nothing if an element is none or two have one id.
std::optional<std::unordered_map<std::string, std::size_t>> places_by_id(const Value& list) {
  std::unordered_map<std::string, std::size_t> places;
  std::size_t place = 0;
  for (const Value& element : list) {
    const auto id = id_of(element);
    if (!id || !places.emplace(*id, place++).second) return std::nullopt;
  }
  return places;
}

// The elements that stay, as pairs of places, in order: Myers' algorithm. Nothing if
// there are too many edits.
class LongestCommon {
 public:
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

  LongestCommon(const std::vector<Value>& a, const std::vector<Value>& b) : a_(a), b_(b) {}

  Pairs find() {
    const auto most = static_cast<std::ptrdiff_t>(std::min(kMostEdits, a_.size() + b_.size()));
    std::vector<std::ptrdiff_t> reached(2 * most + 2, 0);
    for (std::ptrdiff_t edits = 0; edits <= most; ++edits) {
      for (std::ptrdiff_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
        std::ptrdiff_t x = start(reached, most, edits, diagonal);
        while (is_match(x, x - diagonal)) ++x;
        reached[most + diagonal] = x;
        const bool is_end = x >= std::ssize(a_) && x - diagonal >= std::ssize(b_);
        if (is_end) return pairs(edits, diagonal);
      }
      rounds_.emplace_back(reached.begin() + (most - edits), reached.begin() + (most + edits + 1));
    }
    return {};
  }

 private:
  static std::ptrdiff_t start(const std::vector<std::ptrdiff_t>& reached, std::ptrdiff_t most,
                              std::ptrdiff_t edits, std::ptrdiff_t diagonal) {
    if (edits == 0) return 0;
    const bool is_insert =
        is_insertion(edits, diagonal, [&](std::ptrdiff_t d) { return reached[most + d]; });
    return is_insert ? reached[most + diagonal + 1] : reached[most + diagonal - 1] + 1;
  }

  // Whether the way to `diagonal` comes from the one above it.
  template <class Reached>
  static bool is_insertion(std::ptrdiff_t edits, std::ptrdiff_t diagonal, Reached reached) {
    if (diagonal == -edits) return true;
    return diagonal != edits && reached(diagonal - 1) < reached(diagonal + 1);
  }

  bool is_match(std::ptrdiff_t x, std::ptrdiff_t y) const {
    if (x >= std::ssize(a_) || y >= std::ssize(b_)) return false;
    return are_equal(a_[static_cast<std::size_t>(x)], b_[static_cast<std::size_t>(y)]);
  }

  // From the end back to the beginning, along the rounds.
  Pairs pairs(std::ptrdiff_t edits, std::ptrdiff_t diagonal) const {
    Pairs found;
    std::ptrdiff_t x = std::ssize(a_);
    for (; edits > 0; --edits) {
      const std::vector<std::ptrdiff_t>& round = rounds_[static_cast<std::size_t>(edits - 1)];
      const auto reached = [&](std::ptrdiff_t d) {
        return round[static_cast<std::size_t>(d + edits - 1)];
      };
      const bool is_insert = is_insertion(edits, diagonal, reached);
      const std::ptrdiff_t before = is_insert ? reached(diagonal + 1) : reached(diagonal - 1) + 1;
      for (; x > before; --x) found.emplace_back(x - 1, x - diagonal - 1);
      x = is_insert ? before : before - 1;
      diagonal += is_insert ? 1 : -1;
    }
    for (; x > 0; --x) found.emplace_back(x - 1, x - 1);
    std::reverse(found.begin(), found.end());
    return found;
  }

  const std::vector<Value>& a_;
  const std::vector<Value>& b_;
  std::vector<std::vector<std::ptrdiff_t>> rounds_;
};

class Comparison {
 public:
  std::vector<ValueChange> changes;

  void compare(const Value& path, const Value& before, const Value& after) {
    if (are_equal(before, after)) return;
    if (!have_same_shape(before, after)) {
      changes.push_back({path, before, after});
    } else if (before.is_list()) {
      compare_lists(path, before, after);
    } else {
      compare_fields(path, *fields_of(before), *fields_of(after));
    }
  }

 private:
  void compare_fields(const Value& path, const Value& before, const Value& after) {
    for (auto [key, value] : before.items()) {
      if (!after.contains(key)) changes.push_back({path.append(key), value, std::nullopt});
    }
    for (auto [key, value] : after.items()) {
      const Value* older = before.find(key);
      if (older) {
        compare(path.append(key), *older, value);
      } else {
        changes.push_back({path.append(key), std::nullopt, value});
      }
    }
  }

  void compare_lists(const Value& path, const Value& before, const Value& after) {
    const auto older = places_by_id(before);
    const auto newer = older ? places_by_id(after) : std::nullopt;
    if (older && newer) {
      return compare_messages(path, before, after, *older, *newer);
    }
    compare_elements(path, before, after);
  }

  void compare_messages(const Value& path, const Value& before, const Value& after,
                        const std::unordered_map<std::string, std::size_t>& older,
                        const std::unordered_map<std::string, std::size_t>& newer) {
    std::size_t place = 0;
    for (const Value& message : before) {
      if (!newer.contains(*id_of(message))) {
        changes.push_back({path.append(place), message, std::nullopt});
      }
      ++place;
    }
    place = 0;
    for (const Value& message : after) {
      const auto known = older.find(*id_of(message));
      if (known == older.end()) {
        changes.push_back({path.append(place), std::nullopt, message});
      } else if (!are_equal(before[known->second], message)) {
        changes.push_back({path.append(place), before[known->second], message});
      }
      ++place;
    }
  }

  void compare_elements(const Value& path, const Value& before, const Value& after) {
    // What both begin with, by what they share; what is left of it by comparison.
    std::size_t first =
        std::min(difference(before, after).kept, std::min(before.size(), after.size()));
    const std::size_t shorter = std::min(before.size(), after.size());
    while (first < shorter && are_equal(before[first], after[first])) ++first;
    std::size_t last = 0;
    while (last < shorter - first &&
           are_equal(before[before.size() - 1 - last], after[after.size() - 1 - last])) {
      ++last;
    }
    std::vector<Value> older;
    for (std::size_t i = first; i < before.size() - last; ++i) older.push_back(before[i]);
    std::vector<Value> newer;
    for (std::size_t i = first; i < after.size() - last; ++i) newer.push_back(after[i]);
    LongestCommon::Pairs pairs = LongestCommon(older, newer).find();
    pairs.emplace_back(older.size(), newer.size());
    std::size_t a = 0;
    std::size_t b = 0;
    for (const auto& [kept_a, kept_b] : pairs) {
      while (a < kept_a || b < kept_b) {
        if (a < kept_a && b < kept_b) {
          compare(path.append(first + b), older[a], newer[b]);
        } else if (a < kept_a) {
          changes.push_back({path.append(first + a), older[a], std::nullopt});
        } else {
          changes.push_back({path.append(first + b), std::nullopt, newer[b]});
        }
        a = std::min(a + 1, kept_a);
        b = std::min(b + 1, kept_b);
      }
      a = kept_a + 1;
      b = kept_b + 1;
    }
  }
};

}  // namespace

std::vector<ValueChange> value_diff(const Value& before, const Value& after) {
  Comparison comparison;
  comparison.compare(list(), before, after);
  return std::move(comparison.changes);
}

std::string path_text(const Value& path) {
  std::string text;
  for (const Value& step : path) {
    if (step.is_int()) {
      text += "[" + step.integer_text() + "]";
    } else {
      text += (text.empty() ? "" : ".") + std::string(step.as_string());
    }
  }
  return text;
}

}  // namespace clew::cli
