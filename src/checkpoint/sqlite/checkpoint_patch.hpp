// The way from one checkpoint to a later one, both without their values, as a value that can be
// stored in its place.
//
//   Value patch = *make_checkpoint_patch(older, newer);
//   apply_checkpoint_patch(older, patch) == newer;      // down to the order of keys
//
// Nearly all steps change a checkpoint in one way: some channels get one new version, and the
// nodes that ran have seen those that the checkpoint before had. That takes few bytes:
//   ["step", ts, version, [channel, ...], {node: [channel, ...]}, updated, triggers, origins]
// where `updated` are positions in the list of channels, or names; `triggers` are all there are,
// `origins` those that are added. Anything else is a patch as of any value (value_patch.hpp).
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include <clew/value.hpp>

namespace clew::sqlite {

// What a checkpoint is without its values.
inline constexpr std::array<std::string_view, 7> kCheckpointKeys = {
    "v", "ts", "channel_versions", "versions_seen", "updated_channels", "triggers", "origins"};

// The object of these entries, given in this order. If `earlier` is one too, their keys are shared.
Value make_checkpoint_map(std::array<Value, kCheckpointKeys.size()> values, const Value& earlier);

// Nothing if there is no patch that is much smaller than `newer` itself.
std::optional<Value> make_checkpoint_patch(const Value& older, const Value& newer);

// Throws SerdeError if the patch is damaged or does not fit.
Value apply_checkpoint_patch(const Value& older, const Value& patch);

}  // namespace clew::sqlite
