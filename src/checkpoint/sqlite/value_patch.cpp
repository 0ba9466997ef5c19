#include "checkpoint/sqlite/value_patch.hpp"

#include <algorithm>

#include <clew/error.hpp>

namespace clew::sqlite {
namespace {

constexpr std::string_view kList = "list";
constexpr std::string_view kObject = "object";

// Deeper changes are stored as new values: few states nest further, and a
// reader of the file can still follow this.
constexpr int kMaxDepth = 4;

std::optional<Value> make_patch(const Value& older, const Value& newer, int depth);

std::optional<Value> list_patch(const Value& older, const Value& newer) {
  const std::size_t kept = std::min(older.size(), newer.size());
  ListBuilder edits;
  std::size_t edited = 0;
  for (std::size_t position : difference(older, newer).changed) {
    if (older[position] == newer[position]) continue;
    edits.push_back(list({position, newer[position]}));
    if (++edited * 2 > kept) return std::nullopt;
  }
  if (kept == 0) return std::nullopt;
  return list({kList, kept, newer.slice(kept, newer.size()), std::move(edits).build()});
}

// Whether the older version, patched, is the older version.
bool is_empty(const Value& older, const Value& patch) {
  if (patch[0].as_string() == kObject) {
    return patch[1].empty() && patch[2].empty() && patch[3].empty();
  }
  return patch[2].empty() && patch[3].empty() &&
         patch[1].as_int() == static_cast<std::int64_t>(older.size());
}

std::optional<Value> object_patch(const Value& older, const Value& newer, int depth) {
  const Difference between = difference(older, newer);
  if (!between.keeps_order || older.empty()) return std::nullopt;
  ObjectBuilder entries;
  ObjectBuilder patches;
  std::size_t replaced = 0;
  for (std::size_t position : between.changed) {
    const auto [key, value] = newer.items()[position];
    const Value* before = older.find(key);
    // First, as comparing what is large would look at all that they share.
    if (before) {
      if (const std::optional<Value> patch = make_patch(*before, value, depth + 1)) {
        if (!is_empty(*before, *patch)) patches.set(key, *patch);
        continue;
      }
      if (*before == value) continue;
      ++replaced;
    }
    entries.set(key, value);
  }
  if (replaced == older.size()) return std::nullopt;
  ListBuilder erased;
  for (const std::string& key : between.erased) erased.push_back(key);
  return list(
      {kObject, std::move(entries).build(), std::move(patches).build(), std::move(erased).build()});
}

std::optional<Value> make_patch(const Value& older, const Value& newer, int depth) {
  if (depth > kMaxDepth) return std::nullopt;
  if (older.is_list() && newer.is_list()) return list_patch(older, newer);
  if (older.is_object() && newer.is_object()) return object_patch(older, newer, depth);
  return std::nullopt;
}

Value apply_to_list(const Value& older, const Value& patch) {
  require_fit(older.is_list() && patch[1].is_int() && patch[2].is_list() && patch[3].is_list());
  const std::int64_t kept = patch[1].as_int();
  require_fit(kept >= 0 && static_cast<std::size_t>(kept) <= older.size());
  Value result = older.slice(0, static_cast<std::size_t>(kept));
  for (const Value& edit : patch[3]) {
    require_fit(edit.is_list() && edit.size() == 2 && edit[0].is_int());
    const std::int64_t position = edit[0].as_int();
    require_fit(position >= 0 && position < kept);
    result = std::move(result).set(static_cast<std::size_t>(position), edit[1]);
  }
  return std::move(result).concat(patch[2]);
}

Value apply_to_object(const Value& older, const Value& patch) {
  require_fit(older.is_object() && patch[1].is_object() && patch[2].is_object() &&
              patch[3].is_list());
  Value result = older;
  for (const Value& key : patch[3]) {
    require_fit(key.is_string());
    result = std::move(result).erase(key.as_string());
  }
  for (auto [key, inner] : patch[2].items()) {
    const Value* before = older.find(key);
    require_fit(before != nullptr);
    result = std::move(result).set(key, apply_patch(*before, inner));
  }
  for (auto [key, value] : patch[1].items()) result = std::move(result).set(key, value);
  return result;
}

}  // namespace

void require_fit(bool fits) {
  if (!fits) throw SerdeError("a stored difference does not fit the version that it is based on");
}

std::optional<Value> make_patch(const Value& older, const Value& newer) {
  return make_patch(older, newer, 0);
}

Value apply_patch(const Value& older, const Value& patch) {
  require_fit(patch.is_list() && patch.size() == 4 && patch[0].is_string());
  if (patch[0].as_string() == kList) return apply_to_list(older, patch);
  require_fit(patch[0].as_string() == kObject);
  return apply_to_object(older, patch);
}

}  // namespace clew::sqlite
