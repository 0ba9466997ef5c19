// Which checkpoints of a namespace stay when it is pruned or runs are deleted.
// The rules are the same for every backend; what is stored, a backend tells.
//
//   Retention retention(facts_of_all_checkpoints, what_is_stored);
//   const Retention::Ids kept = retention.after_prune(options, has_open_interrupt);
//
// The backend then removes all others, and the parents that are gone from those
// that stay.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <clew/checkpointer.hpp>

namespace clew::internal {

struct CheckpointFacts {
  std::string id;
  std::string parent_id;
  int v = 0;
  std::string ts;
  Value metadata;
  Value channel_versions;
};

// What a checkpoint returns for a channel.
enum class StoredValue { none, plain, delta_snapshot };

StoredValue stored_form(const Value& value);

class Retention {
 public:
  // Views of the ids in the facts.
  using Ids = std::set<std::string_view>;
  using Stored = std::function<StoredValue(std::string_view id, std::string_view channel)>;
  using HasOpenInterrupt = std::function<bool(std::string_view id)>;

  // All checkpoints of the namespace, by id. `stored` is asked only about
  // checkpoints of threads with delta channels.
  Retention(std::vector<CheckpointFacts> facts, Stored stored);
  Retention(const Retention&) = delete;
  Retention& operator=(const Retention&) = delete;

  // What PruneOptions asks to keep, and what that is rebuilt from.
  Ids after_prune(const PruneOptions& options, const HasOpenInterrupt& has_open_interrupt) const;
  // The checkpoints of other runs than these, and what they are rebuilt from.
  Ids after_deleting_runs(std::span<const std::string> run_ids) const;

  const std::vector<CheckpointFacts>& facts() const { return facts_; }

 private:
  const CheckpointFacts* find(std::string_view id) const;
  Ids branch_ends() const;
  void keep_what_is_needed(Ids& kept) const;
  void keep_delta_ancestors(Ids& kept) const;
  Ids delta_ancestors(const CheckpointFacts& checkpoint) const;

  std::vector<CheckpointFacts> facts_;
  Stored stored_;
  std::unordered_map<std::string_view, std::size_t> positions_;
};

// The root checkpoint whose step called the subgraph of this namespace; empty if
// it belongs to no single call. `metadata` is that of its newest checkpoint.
std::string calling_root(std::string_view checkpoint_ns, const Value& metadata);

}  // namespace clew::internal
