// One random sequence of calls on one thread, made on the engine and on the
// model. After every call, every checkpoint ever seen must still be what it was
// when it was first seen, and the new ones what the model says.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <clew/clew.hpp>

#include "model.hpp"
#include "plan.hpp"
#include "random.hpp"

namespace clew::property {

class Mismatch : public Error {
 public:
  using Error::Error;
};

class Sequence {
 public:
  Sequence(std::uint64_t seed, std::shared_ptr<Checkpointer> saver);

  // Throws Mismatch.
  void run();

  // The graph and the calls so far, one per line.
  const std::string& trace() const { return trace_; }

 private:
  // The calls.
  void act();
  void invoke(std::optional<std::size_t> at);
  void go_on(std::optional<std::size_t> at);
  void answer(std::optional<std::size_t> at);
  void command(std::optional<std::size_t> at);
  void update(std::optional<std::size_t> at);
  void update_several(std::optional<std::size_t> at);
  void update_as_input(std::optional<std::size_t> at);
  void clear_tasks(std::optional<std::size_t> at);
  void copy(std::optional<std::size_t> at);

  Request new_request(std::optional<std::size_t> at);
  void run_both(const Request& request, const Value& input);
  std::optional<std::size_t> any_checkpoint();
  Config config_of(std::optional<std::size_t> at) const;
  std::map<std::string, std::string> question_ids(std::size_t checkpoint) const;
  std::string describe(const Request& request, const Value& input) const;

  // The checks.
  void check();
  void check_known(std::size_t index, const StateSnapshot& snapshot);
  void check_new(std::size_t index, const StateSnapshot& snapshot);
  void check_newest();
  void check_stored();
  void check_parts_of_history();
  void check_copy_and_prune();
  void expect(bool holds, const std::string& what) const;
  void expect_equal(const Value& found, const Value& expected, const std::string& what) const;

  Random random_;
  Plan plan_;
  std::shared_ptr<Checkpointer> saver_;
  CompiledGraph graph_;
  Model model_;
  std::string trace_;
  std::size_t action_ = 0;
  std::optional<std::size_t> touched_;  // the checkpoint whose step the last call worked on
  std::vector<Value> seen_;             // snapshots, by checkpoint
  std::map<std::pair<std::string, std::string>, Value> stored_;  // by namespace and id
};

}  // namespace clew::property
