// Changing stored states without running the graph.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include <clew/compiled_graph.hpp>

#include "pregel/graph.hpp"

namespace clew::pregel {

class Loop;

class StateAccess {
 public:
  StateAccess(std::shared_ptr<const Graph> graph, std::shared_ptr<Checkpointer> saver)
      : graph_(std::move(graph)), saver_(std::move(saver)) {}

  // One super-step of updates on the checkpoint that `config` names.
  Config update(const Config& config, std::span<const StateUpdate> updates, bool is_first) const;

 private:
  struct Base;  // the checkpoint that an update builds on

  std::shared_ptr<Loop> open(const Config& config, const CheckpointTuple* saved) const;
  Config clear_tasks(Loop& loop, const Base& base) const;
  Config update_as_input(Loop& loop, const Base& base, const Value& values) const;
  Config copy(Loop& loop, const Base& base, const Value& values) const;
  Config update_as_nodes(Loop& loop, const Base& base, std::span<const StateUpdate> updates) const;
  std::string infer_node(Loop& loop) const;
  std::vector<const Node*> updated_nodes(Loop& loop, std::span<const StateUpdate> updates) const;
  void store_writes(Loop& loop, const Base& base, const std::string& task_id,
                    const std::string& task_path, const std::string& node,
                    std::span<const Write> writes) const;
  Config save(Loop& loop, const Base& base, std::string_view source, std::int64_t id_step,
              std::int64_t step, const std::vector<Index>& updated) const;

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<Checkpointer> saver_;
};

// A namespace with the task ids taken out, as graphs with a history of their own use it.
std::string namespace_without_ids(std::string_view checkpoint_ns);

// A namespace as a path of node names: no task ids, no numbers of repeated calls.
std::string node_path(std::string_view checkpoint_ns);

// What nodes really read, with the versions that only stored a snapshot undone.
Value versions_seen_without_bumps(const Value& versions_seen);

// Makes `config` the address of a checkpoint at `place`; `parents` are those around it, by
// namespace, as its metadata has them.
void set_address(Config& config, const CheckpointKey& place, std::string checkpoint_id,
                 const Value& parents);
// The address of a checkpoint, with those of the graphs around it.
Config checkpoint_config(const CheckpointKey& key, const Value& metadata);

}  // namespace clew::pregel
