#include "pregel/task_status.hpp"

namespace clew::pregel {

std::vector<Interrupt> stored_interrupts(const Value& stored) {
  std::vector<Interrupt> interrupts;
  if (!stored.is_list()) {
    interrupts.push_back(stored.get<Interrupt>());
    return interrupts;
  }
  for (const Value& interrupt : stored) interrupts.push_back(interrupt.get<Interrupt>());
  return interrupts;
}

std::vector<std::pair<std::string, Value>> command_updates(const Command& command) {
  const Value& update = command.update;
  std::vector<std::pair<std::string, Value>> updates;
  if (update.is_object()) {
    for (auto [key, value] : update.items()) updates.emplace_back(key, value);
    return updates;
  }
  if (update.is_list()) {
    for (const Value& pair : update) {
      if (!pair.is_list() || pair.size() != 2 || !pair[0].is_string()) {
        return {{std::string(kRoot), update}};
      }
      updates.emplace_back(pair[0].as_string(), pair[1]);
    }
    return updates;
  }
  if (!update.is_null()) updates.emplace_back(kRoot, update);
  return updates;
}

}  // namespace clew::pregel
