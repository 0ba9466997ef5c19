#include "checkpoint/sqlite/version_chain.hpp"

#include <algorithm>

namespace clew::sqlite {
namespace {

// Below this, making and reading a difference costs more than it saves.
constexpr std::size_t kSmallList = 128;
constexpr std::size_t kSmallObject = 1024;

// What `newer` takes, judged by the size of `older`, which takes `bytes`.
std::size_t estimate(std::size_t bytes, const Value& older, const Value& newer) {
  if (newer.size() <= older.size()) return bytes;
  return bytes * newer.size() / std::max<std::size_t>(1, older.size());
}

bool is_worth_a_patch(const Value& value, std::size_t bytes) {
  if (value.is_list()) return bytes > kSmallList;
  return value.is_object() && bytes > kSmallObject;
}

}  // namespace

std::size_t VersionChain::trailing_zeros(std::int64_t place) {
  std::size_t zeros = 0;
  while (zeros < kDigits && place % kBase == 0) {
    place /= kBase;
    ++zeros;
  }
  return zeros;
}

StoredVersion VersionChain::add(const Value& version, const Value& value,
                                const Value& checkpoint_id, const Serializer& serializer,
                                MakePatch& make) {
  const Link next{version, value, checkpoint_id};
  const std::size_t zeros = trailing_zeros(place_ + 1);
  const bool may_differ = !empty() && zeros < kDigits && is_worth_a_patch(value, bytes_);
  if (!may_differ) return begin(next, serializer.dumps_typed(value));
  const Link base = links_[std::min(zeros, kDigits - 1)];
  const auto patch = make(base.value, value);
  if (!patch) return begin(next, serializer.dumps_typed(value));

  const std::size_t whole_size = estimate(bytes_, newest().value, value);
  StoredVersion stored{serializer.dumps_typed(*patch), base.version, place_ + 1,
                       base.checkpoint_id};
  if (stored.data.bytes.size() * 2 > whole_size) {
    return begin(next, serializer.dumps_typed(value));
  }
  bytes_ = whole_size;
  advance(place_ + 1, next);
  return stored;
}

StoredVersion VersionChain::begin(const Link& newest, TypedBytes whole) {
  bytes_ = whole.bytes.size();
  advance(0, newest);
  return {std::move(whole), {}, 0};
}

void VersionChain::load(const Value& version, std::int64_t place, const Value& value,
                        const Value& checkpoint_id, std::size_t bytes) {
  bytes_ = place == 0 ? bytes : estimate(bytes_, newest().value, value);
  advance(place, {version, value, checkpoint_id});
}

void VersionChain::advance(std::int64_t place, const Link& newest) {
  place_ = place;
  const std::size_t count = place == 0 ? kDigits : trailing_zeros(place) + 1;
  for (std::size_t i = 0; i < std::min(count, kDigits); ++i) links_[i] = newest;
}

}  // namespace clew::sqlite
