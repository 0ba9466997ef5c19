// A random graph as data, and what its nodes do. The graph that the engine runs
// and the model are both made from it; this is all that they share.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <clew/clew.hpp>

#include "random.hpp"

namespace clew::property {

enum class ChannelKind { last, append, add, merge, messages, topic, all, delta, delta_messages };

struct ChannelPlan {
  std::string name;
  ChannelKind kind;
};

// The channels of every graph.
const std::vector<ChannelPlan>& channel_plans();

struct NodePlan {
  std::string name;
  std::vector<std::string> writes;   // channels
  std::size_t questions = 0;         // it asks before it returns
  bool is_subgraph = false;          // then it writes `last`, and asks at most once
  std::vector<std::string> edges;    // nodes that follow
  std::vector<std::string> gotos;    // nodes that its Command goes to
  std::vector<std::string> choices;  // nodes or END, of which its router chooses
  bool sends = false;                // the router may also send to the worker
};

struct JoinPlan {
  std::vector<std::string> from;
  std::string to;
};

struct Plan {
  int snapshot_frequency = 1;        // of delta channels
  std::vector<NodePlan> nodes;       // in the order of their names; the last is the worker
  std::vector<std::string> entries;  // nodes that follow START
  std::vector<JoinPlan> joins;
  std::vector<std::string> interrupt_before;
  std::vector<std::string> interrupt_after;

  const NodePlan& node(std::string_view name) const;
};

Plan random_plan(Random& random);

// An input, an update or a Command's update: an object of some channels.
Value random_update(Random& random);

// What the node returns for what it reads and the answers it got.
Value node_update(const NodePlan& node, const Value& input, std::span<const Value> answers);
// What the node's router returns for the state.
std::vector<Value> destinations(const NodePlan& node, const Value& state);
// What a subgraph writes to `last`, for the `last` it was given.
Value subgraph_result(const Value& last, std::span<const Value> answers);

// The graph itself. Nodes fail if the run's context names them: {"fail": [name, ...]}.
CompiledGraph build_graph(const Plan& plan, std::shared_ptr<Checkpointer> saver);

}  // namespace clew::property
