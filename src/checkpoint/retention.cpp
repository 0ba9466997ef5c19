#include "checkpoint/retention.hpp"

#include <algorithm>
#include <unordered_set>

#include <clew/extension.hpp>
#include <clew/time.hpp>

#include "checkpoint/delta_counters.hpp"

namespace clew::internal {

namespace {

// Older layouts keep the Sends of a step with its parent's writes.
constexpr int kFirstLayoutWithSends = 4;

}  // namespace

StoredValue stored_form(const Value& value) {
  const bool is_snapshot =
      value.is_extension() && value.as_extension().code == ExtensionCode::delta_snapshot;
  return is_snapshot ? StoredValue::delta_snapshot : StoredValue::plain;
}

Retention::Retention(std::vector<CheckpointFacts> facts, Stored stored)
    : facts_(std::move(facts)), stored_(std::move(stored)) {
  for (std::size_t i = 0; i < facts_.size(); ++i) positions_.emplace(facts_[i].id, i);
}

Retention::Ids Retention::after_prune(const PruneOptions& options,
                                      const HasOpenInterrupt& has_open_interrupt) const {
  Ids kept;
  for (auto checkpoint = facts_.rbegin(); checkpoint != facts_.rend(); ++checkpoint) {
    if (kept.size() == options.keep) break;
    kept.insert(checkpoint->id);
  }
  if (options.older_than) {
    const std::string limit = format_time(*options.older_than);
    for (const CheckpointFacts& checkpoint : facts_) {
      if (checkpoint.ts >= limit) kept.insert(checkpoint.id);
    }
  }
  for (std::string_view id : branch_ends()) {
    if (options.keep_branches || has_open_interrupt(id)) kept.insert(id);
  }
  keep_what_is_needed(kept);
  return kept;
}

Retention::Ids Retention::after_deleting_runs(std::span<const std::string> run_ids) const {
  Ids kept;
  for (const CheckpointFacts& checkpoint : facts_) {
    const Value& run_id = checkpoint.metadata["run_id"];
    const bool is_of_run =
        run_id.is_string() && std::ranges::find(run_ids, run_id.as_string()) != run_ids.end();
    if (!is_of_run) kept.insert(checkpoint.id);
  }
  keep_what_is_needed(kept);
  return kept;
}

const CheckpointFacts* Retention::find(std::string_view id) const {
  const auto entry = positions_.find(id);
  return entry == positions_.end() ? nullptr : &facts_[entry->second];
}

Retention::Ids Retention::branch_ends() const {
  std::unordered_set<std::string_view> parents;
  for (const CheckpointFacts& checkpoint : facts_) parents.insert(checkpoint.parent_id);
  Ids ends;
  for (const CheckpointFacts& checkpoint : facts_) {
    if (!parents.contains(checkpoint.id)) ends.insert(checkpoint.id);
  }
  return ends;
}

void Retention::keep_what_is_needed(Ids& kept) const {
  for (std::string_view id : Ids(kept)) {
    const CheckpointFacts& checkpoint = *find(id);
    if (checkpoint.v >= kFirstLayoutWithSends) continue;
    if (const CheckpointFacts* parent = find(checkpoint.parent_id)) kept.insert(parent->id);
  }
  const bool has_deltas = std::ranges::any_of(facts_, [](const CheckpointFacts& checkpoint) {
    return checkpoint.metadata.contains(kDeltaCounters);
  });
  if (has_deltas) keep_delta_ancestors(kept);
}

// A checkpoint that is kept for another's sake can still be asked for, so it
// needs its own ancestors too.
void Retention::keep_delta_ancestors(Ids& kept) const {
  std::vector<std::string_view> unchecked(kept.begin(), kept.end());
  while (!unchecked.empty()) {
    const CheckpointFacts& checkpoint = *find(unchecked.back());
    unchecked.pop_back();
    for (std::string_view id : delta_ancestors(checkpoint)) {
      if (kept.insert(id).second) unchecked.push_back(id);
    }
  }
}

// A delta channel has a version and no value: it is rebuilt from the nearest
// ancestor that stores one and the writes on the way.
Retention::Ids Retention::delta_ancestors(const CheckpointFacts& checkpoint) const {
  Ids ancestors;
  for (auto [channel, version] : checkpoint.channel_versions.items()) {
    if (stored_(checkpoint.id, channel) != StoredValue::none) continue;
    bool is_delta = checkpoint.metadata[kDeltaCounters].contains(channel);
    std::vector<std::string_view> path;
    std::unordered_set<const CheckpointFacts*> visited;
    for (const CheckpointFacts* current = &checkpoint; visited.insert(current).second;) {
      current = find(current->parent_id);
      if (!current) break;
      path.push_back(current->id);
      is_delta = is_delta || current->metadata[kDeltaCounters].contains(channel);
      const StoredValue stored = stored_(current->id, channel);
      is_delta = is_delta || stored == StoredValue::delta_snapshot;
      if (stored != StoredValue::none) break;
    }
    if (is_delta) ancestors.insert(path.begin(), path.end());
  }
  return ancestors;
}

std::string calling_root(std::string_view checkpoint_ns, const Value& metadata) {
  // The namespace of a subgraph call carries the id of the task that made it.
  const bool is_call = checkpoint_ns.find(':') != std::string_view::npos;
  const Value root = is_call ? metadata["parents"][""] : Value();
  return root.is_string() ? std::string(root.as_string()) : std::string();
}

}  // namespace clew::internal
