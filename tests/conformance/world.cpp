#include "world.hpp"

#include <algorithm>
#include <utility>

#include <clew/errors.hpp>

#include "error_kinds.hpp"
#include "expression.hpp"
#include "python.hpp"
#include "store_calls.hpp"

namespace clew::conformance {
namespace {

std::set<std::string> kinds_of(const Scenario& scenario) {
  const std::vector<std::string> kinds = scenario.node_error_kinds();
  return {kinds.begin(), kinds.end()};
}

template <class... Cases>
struct Overload : Cases... {
  using Cases::operator()...;
};

}  // namespace

World::World(const Scenario& scenario, std::unique_ptr<Database> database, bool jitter)
    : scenario_(scenario),
      database_(std::move(database)),
      root_(scenario.root()),
      normalizer_(labels_, kinds_of(scenario)) {
  resources_.saver = database_->saver();
  const Value& store = scenario.file["store"];
  if (is_true(store)) resources_.store = database_->make_store(store["index"]);
  if (is_true(scenario.file["cache"])) resources_.cache = std::make_shared<InMemoryCache>();
  resources_.ledger = &ledger_;
  resources_.jitter = jitter;
}

void World::take(const Carry& carry) {
  root_ = carry.root;
  ledger_.take(carry.counts, carry.fails);
  labels_.take_interrupts(carry.interrupts);
}

Carry World::carry() const {
  return {root_, ledger_.starts(), ledger_.fires(), labels_.interrupts()};
}

void World::build() { program_ = std::make_unique<Program>(scenario_.graphs(), root_, resources_); }

Store& World::store() const {
  if (!resources_.store) throw ScenarioError("the scenario has no store");
  return *resources_.store;
}

// ---- Labels and normalization

std::optional<std::vector<StateSnapshot>> World::history(const std::string& thread,
                                                         const std::string& ns) const {
  try {
    const Config config{.thread_id = thread, .checkpoint_ns = ns};
    std::vector<StateSnapshot> snapshots;
    for (const StateSnapshot& snapshot : graph().get_state_history(config)) {
      snapshots.push_back(snapshot);
    }
    return snapshots;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void World::refresh_labels() {
  labels_.refresh(*database_, [this](const std::string& thread, const std::string& ns) {
    return history(thread, ns);
  });
}

Value World::normalized(const Raw& raw) const {
  const auto list_of = [](const auto& elements, const auto& normalize) {
    ListBuilder result;
    for (const auto& element : elements) result.push_back(normalize(element));
    return std::move(result).build();
  };
  const auto visitor = Overload{
      [&](const Value& value) { return normalizer_.value(value); },
      [&](const StateSnapshot& snapshot) { return normalizer_.snapshot(snapshot); },
      [&](const Config& config) { return normalizer_.update_result(config); },
      [&](const std::vector<StateSnapshot>& snapshots) {
        return list_of(snapshots, [&](const auto& one) { return normalizer_.snapshot(one); });
      },
      [&](const std::vector<StreamEvent>& events) {
        return list_of(events, [&](const auto& one) { return normalizer_.event(one); });
      }};
  return std::visit(visitor, raw);
}

Value World::perform(const Value& action) {
  const Outcome outcome = attempt(action);
  refresh_labels();
  InterruptFinder finder;
  std::visit([&](const auto& raw) { finder.look_in(raw); }, outcome.raw);
  finder.label_new(labels_, normalizer_);

  ObjectBuilder result;
  if (std::holds_alternative<std::vector<StreamEvent>>(outcome.raw)) {
    result.set("events", normalized(outcome.raw));
  } else if (!outcome.error) {
    result.set("result", normalized(outcome.raw));
  }
  if (outcome.error) result.set("error", error_of(outcome.error));
  result.set("counts", ledger_.starts());
  return std::move(result).build();
}

// ---- The end

Value World::final_state() {
  ObjectBuilder threads;
  for (const std::string& thread : database_->threads()) threads.set(thread, final_thread(thread));
  ObjectBuilder result;
  result.set("threads", std::move(threads).build());
  if (resources_.store) result.set("store", all_items(*resources_.store));
  return std::move(result).build();
}

std::vector<std::string> World::namespaces_by_label(const std::string& thread) const {
  std::vector<std::string> namespaces = database_->namespaces(thread);
  std::stable_sort(namespaces.begin(), namespaces.end(),
                   [&](const auto& a, const auto& b) { return labels_.ns(a) < labels_.ns(b); });
  return namespaces;
}

Value World::final_thread(const std::string& thread) {
  const std::vector<std::string> namespaces = namespaces_by_label(thread);
  for (const std::string& ns : namespaces) {
    InterruptFinder finder;
    if (const auto snapshots = history(thread, ns)) finder.look_in(*snapshots);
    finder.look_in(database_->checkpoints(thread, ns));
    finder.label_new(labels_, normalizer_);
  }

  ObjectBuilder result;
  std::set<std::string> used;
  for (const std::string& ns : namespaces) {
    const std::string label = labels_.ns(ns);
    if (!used.insert(label).second) {
      throw ScenarioError("two namespaces of thread '" + thread + "' are both '" + label + "'");
    }
    ListBuilder rows;
    for (const CheckpointTuple& tuple : database_->checkpoints(thread, ns)) {
      rows.push_back(normalizer_.row(tuple));
    }
    const auto snapshots = history(thread, ns);
    result.set(label, object({{"history", snapshots ? normalized(*snapshots) : Value()},
                              {"rows", std::move(rows).build()}}));
  }
  return std::move(result).build();
}

}  // namespace clew::conformance
