// What the engine gave, in the form that scenario files record: labels for ids,
// plain JSON for typed values.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <clew/snapshot.hpp>
#include <clew/stream.hpp>

#include "labels.hpp"

namespace clew::conformance {

class Normalizer {
 public:
  Normalizer(const Labels& labels, std::set<std::string> node_error_kinds)
      : labels_(labels), node_error_kinds_(std::move(node_error_kinds)) {}

  // Each throws ScenarioError on what has no form.
  Value value(const Value& value) const;
  Value snapshot(const StateSnapshot& snapshot) const;
  Value event(const StreamEvent& event) const;
  // A checkpoint with its writes, as the saver holds it.
  Value row(const CheckpointTuple& tuple) const;
  // {"checkpoint", "ns"?} of what update_state returned.
  Value update_result(const Config& config) const;

 private:
  Value extension(const Value& value) const;
  Value command(const Value& value) const;
  Value interrupt(const Value& interrupt) const;
  Value interrupts(const Value& interrupts) const;
  Value error(const Value& stored) const;
  Value checkpoint_or_null(const Value& config) const;
  Value state_reference(const Value& config) const;
  void add_metadata(ObjectBuilder& out, const Value& metadata) const;

  Value snapshot_task(const SnapshotTask& task) const;
  Value task_event(const Value& payload) const;
  Value task_start(const Value& payload) const;
  Value task_result(const Value& payload) const;
  Value checkpoint_event(const Value& payload) const;
  Value checkpoint_event_task(const Value& task) const;
  Value debug_event(const Value& data) const;
  Value message_event(const Value& data) const;

  Value writes(const std::vector<PendingWrite>& pending) const;
  Value write_group(const std::string& task_id,
                    const std::vector<const PendingWrite*>& writes) const;

  const Labels& labels_;
  std::set<std::string> node_error_kinds_;
};

// Finds interrupts in what the engine gave: id -> question.
class InterruptFinder {
 public:
  void look_in(const Value& value);
  void look_in(const StateSnapshot& snapshot);
  void look_in(const StreamEvent& event) { look_in(event.data); }
  void look_in(const Config&) {}
  void look_in(const CheckpointTuple& tuple);
  template <class T>
  void look_in(const std::vector<T>& all) {
    for (const T& one : all) look_in(one);
  }

  // Labels those that are new, in the order of their questions.
  void label_new(Labels& labels, const Normalizer& normalizer) const;

 private:
  void found(const std::string& id, const Value& question) { questions_.emplace(id, question); }

  std::map<std::string, Value> questions_;
};

}  // namespace clew::conformance
