#include "checkpoint/sqlite/checkpoint_patch.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/sqlite/value_patch.hpp"
#include "value/object.hpp"

namespace clew::sqlite {
namespace {

constexpr std::string_view kStep = "step";
constexpr std::size_t kStepSize = 8;

// Among more channels a name is not looked for.
constexpr std::size_t kFewChannels = 16;

// The entries of a checkpoint.
struct Parts {
  const Value& version;
  const Value& ts;
  const Value& channel_versions;
  const Value& versions_seen;
  const Value& updated_channels;
  const Value& triggers;
  const Value& origins;

  bool are_maps() const {
    return channel_versions.is_object() && versions_seen.is_object() && origins.is_object();
  }
};

std::optional<Parts> as_parts(const std::array<const Value*, kCheckpointKeys.size()>& found) {
  const Parts parts{*found[0], *found[1], *found[2], *found[3], *found[4], *found[5], *found[6]};
  return parts.are_maps() ? std::optional(parts) : std::nullopt;
}

bool are_in_order(const detail::FlatObject& checkpoint) {
  const Value* keys = checkpoint.shape()->keys();
  return checkpoint.count == kCheckpointKeys.size() &&
         std::equal(
             kCheckpointKeys.begin(), kCheckpointKeys.end(), keys,
             [](std::string_view key, const Value& found) { return key == found.as_string(); });
}

// Nothing if there are others, or if they are in another order.
std::optional<Parts> parts_in_order(const Value& checkpoint) {
  const auto* entries = detail::as_flat_object(checkpoint);
  if (!entries || !are_in_order(*entries)) return std::nullopt;
  std::array<const Value*, kCheckpointKeys.size()> found;
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = &entries->values()[i];
  return as_parts(found);
}

// In any order: a serializer need not keep it.
std::optional<Parts> parts_of(const Value& checkpoint) {
  if (!checkpoint.is_object()) return std::nullopt;
  std::array<const Value*, kCheckpointKeys.size()> found;
  for (std::size_t i = 0; i < kCheckpointKeys.size(); ++i) {
    found[i] = checkpoint.find(kCheckpointKeys[i]);
    if (!found[i]) return std::nullopt;
  }
  return as_parts(found);
}

bool is_same(const Value* before, const Value& value) { return before && *before == value; }

// Calls `use` with the key, the value and the value before, or null, of all entries of `newer`
// that are new or not the same. False if it returns that.
template <class Use>
bool use_changed(const detail::FlatObject& older, const detail::FlatObject& newer, const Use& use) {
  for (std::size_t i = 0; i < newer.count; ++i) {
    const Value* earlier = i < older.count ? &older.values()[i] : nullptr;
    const Value& value = newer.values()[i];
    if (earlier && (same(*earlier, value) || *earlier == value)) continue;
    if (!use(newer.shape()->keys()[i].as_string(), value, earlier)) return false;
  }
  return true;
}

// The same of any. False also if others are gone or in another order.
template <class Use>
bool use_changed(const Value& older, const Value& newer, const Use& use) {
  const auto* before = detail::as_flat_object(older);
  const auto* now = detail::as_flat_object(newer);
  if (before && now && keys_extend(*before, *now)) return use_changed(*before, *now, use);
  const Difference between = difference(older, newer);
  if (!between.keeps_order || !between.erased.empty()) return false;
  return std::ranges::all_of(between.changed, [&](std::size_t position) {
    const auto [key, value] = newer.items()[position];
    const Value* earlier = older.find(key);
    return is_same(earlier, value) || use(key, value, earlier);
  });
}

// One version for all channels that have another one than before.
struct NewVersion {
  Value version;
  std::vector<std::string_view> channels;

  bool find(const Value& before, const Value& now) {
    const auto add = [&](std::string_view channel, const Value& found, const Value*) {
      if (channels.empty()) version = found;
      channels.push_back(channel);
      return found == version;
    };
    return use_changed(before, now, add);
  }

  Value names() const {
    ListBuilder names;
    for (const std::string_view channel : channels) names.push_back(channel);
    return std::move(names).build();
  }

  // Positions instead of names, if they are found soon. Nothing if there are other things.
  std::optional<Value> places_of(const Value& updated) const {
    if (!updated.is_list()) return updated;
    ListBuilder places;
    for (const Value& channel : updated) {
      if (!channel.is_string()) return std::nullopt;
      places.push_back(place_of(channel));
    }
    return std::move(places).build();
  }

  Value place_of(const Value& channel) const {
    if (channels.size() > kFewChannels) return channel;
    const auto found = std::ranges::find(channels, channel.as_string());
    return found == channels.end() ? channel : Value(found - channels.begin());
  }
};

// The channels that a node has seen meanwhile, at the versions they had before the step.
std::optional<Value> seen_in_step(const Value& before, const Value& seen, const Value& versions) {
  ListBuilder channels;
  const auto add = [&](std::string_view channel, const Value& version, const Value*) {
    channels.push_back(channel);
    return is_same(versions.find(channel), version);
  };
  if (!use_changed(before, seen, add)) return std::nullopt;
  return std::move(channels).build();
}

std::optional<Value> nodes_in_step(const Parts& older, const Parts& newer) {
  ObjectBuilder nodes;
  const auto add = [&](std::string_view node, const Value& seen, const Value* earlier) {
    if (!seen.is_object() || (earlier && !earlier->is_object())) return false;
    const auto channels = seen_in_step(earlier ? *earlier : object(), seen, older.channel_versions);
    if (channels && !(earlier && channels->empty())) nodes.set(node, *channels);
    return channels.has_value();
  };
  if (!use_changed(older.versions_seen, newer.versions_seen, add)) return std::nullopt;
  return std::move(nodes).build();
}

std::optional<Value> new_origins(const Parts& older, const Parts& newer) {
  ObjectBuilder origins;
  const auto add = [&](std::string_view channel, const Value& origin, const Value*) {
    origins.set(channel, origin);
    return true;
  };
  if (!use_changed(older.origins, newer.origins, add)) return std::nullopt;
  return std::move(origins).build();
}

std::optional<Value> make_step(const Value& before, const Value& after) {
  const std::optional<Parts> older = parts_in_order(before);
  const std::optional<Parts> newer = parts_in_order(after);
  if (!older || !newer || older->version != newer->version) return std::nullopt;
  NewVersion changed;
  if (!changed.find(older->channel_versions, newer->channel_versions)) return std::nullopt;
  const std::optional<Value> nodes = nodes_in_step(*older, *newer);
  const std::optional<Value> updated = changed.places_of(newer->updated_channels);
  const std::optional<Value> origins = new_origins(*older, *newer);
  if (!nodes || !updated || !origins) return std::nullopt;
  return list({kStep, newer->ts, changed.version, changed.names(), *nodes, *updated,
               newer->triggers, *origins});
}

bool is_step(const Value& patch) {
  return patch.is_list() && patch.size() == kStepSize && patch[0] == Value(kStep);
}

Value set_all(Value versions, const Value& channels, const Value& version) {
  for (const Value& channel : channels) {
    require_fit(channel.is_string());
    versions = std::move(versions).set(channel.as_string(), version);
  }
  return versions;
}

Value see(Value seen, const Value& nodes, const Value& versions) {
  for (auto [node, channels] : nodes.items()) {
    const Value* earlier = seen.find(node);
    require_fit(channels.is_list() && (!earlier || earlier->is_object()));
    Value of_node = earlier ? *earlier : object();
    for (const Value& channel : channels) {
      const Value* version = channel.is_string() ? versions.find(channel.as_string()) : nullptr;
      require_fit(version != nullptr);
      of_node = std::move(of_node).set(channel.as_string(), *version);
    }
    seen = std::move(seen).set(node, std::move(of_node));
  }
  return seen;
}

Value names_at(const Value& channels, const Value& places) {
  if (!places.is_list()) return places;
  ListBuilder names;
  for (const Value& place : places) {
    if (place.is_string()) {
      names.push_back(place);
      continue;
    }
    require_fit(place.is_int() && place.as_int() >= 0 &&
                static_cast<std::size_t>(place.as_int()) < channels.size());
    names.push_back(channels[static_cast<std::size_t>(place.as_int())]);
  }
  return std::move(names).build();
}

Value apply_step(const Value& before, const Value& patch) {
  const std::optional<Parts> older = parts_of(before);
  require_fit(older && patch[3].is_list() && patch[4].is_object() && patch[7].is_object());
  return make_checkpoint_map(
      {older->version, patch[1], set_all(older->channel_versions, patch[3], patch[2]),
       see(older->versions_seen, patch[4], older->channel_versions), names_at(patch[3], patch[5]),
       patch[6], older->origins.merge(patch[7])},
      before);
}

}  // namespace

Value make_checkpoint_map(std::array<Value, kCheckpointKeys.size()> values, const Value& earlier) {
  const auto* entries = detail::as_flat_object(earlier);
  if (entries && are_in_order(*entries)) return detail::make_object_like(*entries, values);
  ObjectBuilder checkpoint;
  for (std::size_t i = 0; i < values.size(); ++i) {
    checkpoint.set(kCheckpointKeys[i], std::move(values[i]));
  }
  return std::move(checkpoint).build();
}

std::optional<Value> make_checkpoint_patch(const Value& older, const Value& newer) {
  if (auto step = make_step(older, newer)) return step;
  return make_patch(older, newer);
}

Value apply_checkpoint_patch(const Value& older, const Value& patch) {
  return is_step(patch) ? apply_step(older, patch) : apply_patch(older, patch);
}

}  // namespace clew::sqlite
