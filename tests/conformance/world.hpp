// A scenario in progress: its graphs, its database, and the labels of what is in it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <clew/compiled_graph.hpp>

#include "database.hpp"
#include "labels.hpp"
#include "ledger.hpp"
#include "normalize.hpp"
#include "program.hpp"
#include "scenario.hpp"

namespace clew::conformance {

// What a scenario in progress knows and its database does not.
struct Carry {
  std::string root;  // the graph that is run now
  Value counts;      // starts of bodies
  Value fails;       // JSON pointer of a `fail` statement -> how often it has raised
  Value interrupts;  // id -> label
};

class World {
 public:
  // `scenario` must outlive the world.
  World(const Scenario& scenario, std::unique_ptr<Database> database, bool jitter);

  // Goes on where another world was, on the same database. Before build().
  void take(const Carry& carry);
  Carry carry() const;

  // Builds the graphs. Throws GraphError if the engine refuses them.
  void build();

  // Labels what is in the database.
  void refresh_labels();

  // What the action gave, as its "expect" would have it: "result", or "error",
  // and "counts"; for a stream "events" in the order in which they came.
  Value perform(const Value& action);

  // What is in the database now, as "final" has it.
  Value final_state();

 private:
  // What a call of the engine gave, before ids have labels.
  using Raw = std::variant<Value, StateSnapshot, Config, std::vector<StateSnapshot>,
                           std::vector<StreamEvent>>;
  struct Outcome {
    Raw raw;
    std::exception_ptr error;
  };
  struct Action {
    std::string_view name;
    Raw (World::*perform)(const Value& action);
  };
  static const Action kActions[];

  Outcome attempt(const Value& action);
  Raw invoke(const Value& action);
  Raw get_state(const Value& action);
  Raw get_history(const Value& action);
  Raw update_state(const Value& action);
  Raw bulk_update(const Value& action);
  Raw delete_thread(const Value& action);
  Raw clear_cache(const Value& action);
  Raw restart(const Value& action);
  Raw store_put(const Value& action);
  Raw store_get(const Value& action);
  Raw store_delete(const Value& action);
  Raw store_search(const Value& action);
  Raw store_list_namespaces(const Value& action);
  Outcome stream(const Value& action);
  void take_stored_counters(std::vector<StreamEvent>& events) const;

  Value run_input(const Value& action) const;
  Value answers_by_id(const Value& thread, const Value& answers) const;
  Config config(const Value& action) const;
  Config run_config(const Value& action) const;
  void address_checkpoint(Config& config, const Value& label) const;
  std::string raw_namespace(const std::string& thread, const std::string& label) const;
  std::string raw_checkpoint(const std::string& thread, const std::string& ns,
                             const std::string& label) const;

  std::optional<std::vector<StateSnapshot>> history(const std::string& thread,
                                                    const std::string& ns) const;
  Value normalized(const Raw& raw) const;
  Value final_thread(const std::string& thread);
  std::vector<std::string> namespaces_by_label(const std::string& thread) const;

  const CompiledGraph& graph() const { return program_->root(); }
  Store& store() const;

  const Scenario& scenario_;
  std::unique_ptr<Database> database_;
  Ledger ledger_;
  Resources resources_;
  std::string root_;
  std::unique_ptr<Program> program_;
  Labels labels_;
  Normalizer normalizer_;
};

}  // namespace clew::conformance
