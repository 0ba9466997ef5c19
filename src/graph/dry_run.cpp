#include "graph/dry_run.hpp"

#include <algorithm>

#include "pregel/thread_state.hpp"

namespace clew {

using pregel::Graph;
using pregel::Index;
using pregel::kUnknown;
using pregel::Node;

namespace {

// Plain edges in a circle never come to rest. LangGraph gives up after as many
// steps, and the node it stops at is the one it draws an edge to END from.
constexpr int kSteps = 251;

// What a node writes to wake another.
struct Signal {
  Index channel = kUnknown;
  bool conditional = false;
  std::optional<std::string> label = {};

  friend auto operator<=>(const Signal&, const Signal&) = default;
};

// Super-steps on the graph's real channels, so that joins and deferred nodes
// wait as they would in a run. A node is taken to write all that it may write to
// others: its edges every time, its choices the first time, or loops of
// conditional edges would never end.
class Simulation {
 public:
  explicit Simulation(const std::shared_ptr<const Graph>& graph)
      : graph_(*graph),
        state_(graph, nullptr),
        signals_(graph->nodes.size()),
        ran_(graph->nodes.size()) {}

  DryRun run() && {
    std::vector<Index> tasks = wake();
    result_.first_step = names(tasks);
    for (int step = 0; step < kSteps && !tasks.empty(); ++step) {
      result_.last_step = names(tasks);
      const std::vector<Index> woken = run_step(tasks);
      for (Index node : woken) add_ways_to(graph_.nodes[node], tasks);
      tasks = woken;
    }
    return std::move(result_);
  }

 private:
  std::vector<Index> wake() {
    const pregel::Write input{{}, object(), graph_.start_channel};
    const auto writes = pregel::TaskWrites::of_input({&input, 1});
    return apply({&writes, 1});
  }

  std::vector<Index> run_step(const std::vector<Index>& tasks) {
    std::vector<std::vector<pregel::Write>> writes;
    writes.reserve(tasks.size());
    std::vector<pregel::TaskWrites> results;
    for (Index task : tasks) {
      writes.push_back(run_node(task));
      const Node& node = graph_.nodes[task];
      results.push_back({&node, {}, writes.back(), true, true});
    }
    return apply(results);
  }

  // Applies the writes of a step; returns the nodes that run in the next.
  std::vector<Index> apply(std::span<const pregel::TaskWrites> writes) {
    state_.apply(writes);
    std::vector<Index> woken;
    for (Index node = 0; node < graph_.nodes.size(); ++node) {
      if (state_.is_triggered(graph_.nodes[node])) woken.push_back(node);
    }
    return woken;
  }

  std::vector<pregel::Write> run_node(Index index) {
    const Node& node = graph_.nodes[index];
    const bool is_first_run = !ran_[index];
    ran_[index] = true;
    std::vector<pregel::Write> writes = node.edges;
    signals_[index] = choices(node);
    if (is_first_run) {
      for (const Signal& choice : signals_[index]) {
        writes.push_back({{}, {}, choice.channel});
      }
    }
    for (const pregel::Write& edge : node.edges) {
      const bool is_also_a_choice = std::any_of(
          signals_[index].begin(), signals_[index].end(),
          [&](const Signal& signal) { return signal.conditional && signal.channel == edge.index; });
      if (!is_first_run || !is_also_a_choice) signals_[index].insert({edge.index});
    }
    return writes;
  }

  std::set<Signal> choices(const Node& node) {
    std::set<Signal> found;
    const auto add = [&](const std::string& target, std::optional<std::string> label) {
      const Index channel = graph_.branch_to(target, {}).index;
      if (target == END) {
        result_.ways.insert({node.name, END, true, std::move(label)});
      } else if (channel != kUnknown) {
        found.insert({channel, true, std::move(label)});
      }
    };
    for (const Destination& to : node.options.destinations) add(to.node, to.label);
    for (const pregel::Branch& branch : node.branches) {
      if (!branch.path_map) continue;
      for (const auto& [label, target] : *branch.path_map) add(target, label);
    }
    return found;
  }

  // A join is woken also by nodes that ran earlier; each such signal counts once.
  // A node that nobody of the last step woke was waiting for that step to pass.
  void add_ways_to(const Node& target, const std::vector<Index>& last_step) {
    bool is_woken_by_last_step = false;
    for (Index source = 0; source < graph_.nodes.size(); ++source) {
      const bool is_recent =
          std::find(last_step.begin(), last_step.end(), source) != last_step.end();
      const auto wakes_target = [&](const Signal& signal) {
        return std::find(target.triggers.begin(), target.triggers.end(), signal.channel) !=
               target.triggers.end();
      };
      for (const Signal& signal : signals_[source]) {
        if (!wakes_target(signal)) continue;
        const std::string& name = graph_.nodes[source].name;
        result_.ways.insert({name, target.name, signal.conditional, signal.label});
        is_woken_by_last_step = is_woken_by_last_step || is_recent;
      }
      if (!is_recent) std::erase_if(signals_[source], wakes_target);
    }
    if (is_woken_by_last_step) return;
    for (Index source : last_step) {
      result_.ways.insert({graph_.nodes[source].name, target.name, true});
    }
  }

  std::vector<std::string> names(const std::vector<Index>& nodes) const {
    std::vector<std::string> result;
    result.reserve(nodes.size());
    for (Index node : nodes) result.push_back(graph_.nodes[node].name);
    return result;
  }

  const Graph& graph_;
  pregel::ThreadState state_;
  std::vector<std::set<Signal>> signals_;  // of each node's latest run
  std::vector<bool> ran_;
  DryRun result_;
};

}  // namespace

DryRun dry_run(const std::shared_ptr<const Graph>& graph) { return Simulation(graph).run(); }

}  // namespace clew
