// Names for what differs from run to run: checkpoints, tasks, namespaces and
// interrupts are labelled by where they are, so that two engines can be compared.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <clew/snapshot.hpp>

#include "database.hpp"

namespace clew::conformance {

// The whole history of a namespace, or nothing if the graph does not know it.
using HistoryReader = std::function<std::optional<std::vector<StateSnapshot>>(
    const std::string& thread, const std::string& ns)>;

class Labels {
 public:
  // Labels what is new in the database. What has a label keeps it.
  void refresh(const Database& database, const HistoryReader& history);

  // "c3", or "?" if it is not stored.
  std::string checkpoint(std::string_view id) const;
  // Nothing if there is no such checkpoint.
  std::optional<std::string> find_checkpoint(std::string_view id) const;
  // "agent@c3"; "null" for the null task. Without `name`: as its path says.
  std::string task(std::string_view id, std::string_view name = {}) const;
  // Every "node:task id" in it as "node@c3".
  std::string ns(std::string_view ns) const;
  // Every task id in it as its label.
  std::string path(std::string_view task_path) const;

  // "i0", or "?".
  std::string interrupt(std::string_view id) const;
  bool knows_interrupt(const std::string& id) const { return interrupts_.contains(id); }
  void add_interrupt(const std::string& id);

  // Interrupt id to label.
  Value interrupts() const;
  void take_interrupts(const Value& interrupts);

 private:
  using Table = std::map<std::string, std::string, std::less<>>;

  void label_checkpoints(const Database& database);
  void label_snapshot_tasks(const StateSnapshot& snapshot);
  void label_written_tasks(const CheckpointTuple& tuple);
  void label_by_path(const std::string& task_id, const std::string& task_path,
                     const std::string& checkpoint);

  Table checkpoints_;
  Table suffixes_;  // of tasks: "@c3", "@c3#0", "@c3^1"
  Table names_;     // of tasks
  Table interrupts_;
};

// Whether the whole text is a UUID in lower case.
bool is_uuid(std::string_view text);

}  // namespace clew::conformance
