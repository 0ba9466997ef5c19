#include "sequence.hpp"

#include <algorithm>
#include <sstream>

namespace clew::property {
namespace {

constexpr const char* kThread = "t";

template <class Call>
Ending ending_of(Call call) {
  try {
    call();
    return Ending::normal;
  } catch (const AmbiguousResumeError&) {
    return Ending::ambiguous_answer;
  } catch (const EmptyInputError&) {
    return Ending::empty_input;
  } catch (const GraphRecursionError&) {
    return Ending::out_of_steps;
  } catch (const InvalidUpdateError&) {
    return Ending::refused;
  } catch (const MessageNotFoundError&) {
    return Ending::refused;
  } catch (const NodeError&) {
    return Ending::node_failed;
  }
}

std::string place(std::optional<std::size_t> at) {
  return at ? " at " + std::to_string(*at) : std::string();
}

std::string text(const Value& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string describe_plan(const Plan& plan) {
  std::ostringstream out;
  const auto names = [&](const char* label, const std::vector<std::string>& list) {
    if (!list.empty()) out << ' ' << label << ' ' << Value(list);
  };
  out << "graph: frequency " << plan.snapshot_frequency;
  names("entries", plan.entries);
  names("before", plan.interrupt_before);
  names("after", plan.interrupt_after);
  out << '\n';
  for (const NodePlan& node : plan.nodes) {
    out << "  " << node.name << (node.is_subgraph ? " (subgraph)" : "") << " asks "
        << node.questions;
    names("writes", node.writes);
    names("edges", node.edges);
    names("gotos", node.gotos);
    names("choices", node.choices);
    out << (node.sends ? " and sends\n" : "\n");
  }
  for (const JoinPlan& join : plan.joins) {
    out << "  join " << Value(join.from) << " -> " << join.to << '\n';
  }
  return out.str();
}

}  // namespace

Sequence::Sequence(std::uint64_t seed, std::shared_ptr<Checkpointer> saver)
    : random_(seed),
      plan_(random_plan(random_)),
      saver_(std::move(saver)),
      graph_(build_graph(plan_, saver_)),
      model_(plan_),
      trace_(describe_plan(plan_)) {}

void Sequence::run() {
  const std::size_t actions = 3 + random_.below(random_.chance(10) ? 25 : 10);
  for (action_ = 0; action_ < actions; ++action_) {
    act();
    check();
    if (model_.has_half_a_step) break;
  }
  check_copy_and_prune();
}

// Calls -----------------------------------------------------------------------

void Sequence::act() {
  const std::optional<std::size_t> past = random_.chance(45) ? any_checkpoint() : std::nullopt;
  touched_ = past;
  if (!past && !model_.checkpoints.empty()) touched_ = model_.checkpoints.size() - 1;
  const bool has_begun = !model_.checkpoints.empty();
  const std::size_t choice = random_.below(100);
  if (choice < 25) return invoke(past);
  if (choice < 45) return go_on(past);
  if (choice < 63) return update(past);
  if (choice < 66 || !has_begun) return update_as_input(past);
  if (choice < 81) return answer(past);
  if (choice < 88) return command(past);
  if (choice < 93) return update_several(past);
  if (choice < 96) return copy(past);
  return clear_tasks(past);
}

std::optional<std::size_t> Sequence::any_checkpoint() {
  if (model_.checkpoints.empty()) return std::nullopt;
  const std::size_t first =
      model_.checkpoints.front().source.empty() ? 1 : 0;  // a stub is no state
  return first + random_.below(model_.checkpoints.size() - first);
}

Config Sequence::config_of(std::optional<std::size_t> at) const {
  Config config;
  config.thread_id = kThread;
  if (at) config.checkpoint_id = model_.checkpoints[*at].id;
  return config;
}

Request Sequence::new_request(std::optional<std::size_t> at) {
  Request request;
  request.at = at;
  request.durability = static_cast<Durability>(random_.below(3));
  // Enough for a subgraph, which has the same limit.
  request.recursion_limit = random_.chance(20) ? 3 + static_cast<int>(random_.below(3)) : 12;
  for (const NodePlan& node : plan_.nodes) {
    if (random_.chance(8)) request.failing.insert(node.name);
  }
  return request;
}

std::string Sequence::describe(const Request& request, const Value& input) const {
  std::ostringstream out;
  out << "invoke " << input << place(request.at) << ", " << Value(request.durability) << ", limit "
      << request.recursion_limit;
  if (!request.failing.empty()) out << ", failing " << Value(request.failing);
  return out.str();
}

void Sequence::run_both(const Request& request, const Value& input) {
  trace_ += describe(request, input) + '\n';
  Config config = config_of(request.at);
  config.durability = request.durability;
  config.recursion_limit = request.recursion_limit;
  const std::vector<std::string> failing(request.failing.begin(), request.failing.end());
  config.context = object({{"fail", Value(failing)}});
  config.max_concurrency = 1;
  config.metadata = object({{"action", action_}});
  Value result;
  const Ending found = ending_of([&] { result = graph_.invoke(input, config); });
  const Ending expected = model_.run(request);
  trace_ += "  -> " + text(found) + '\n';
  expect_equal(found, expected, "how the run ends");
  if (found != Ending::normal) return;
  const Value& questions = result["__interrupt__"];
  expect_equal(questions.is_list() ? questions.size() : 0, model_.questions_asked, "questions");
}

void Sequence::invoke(std::optional<std::size_t> at) {
  Request request = new_request(at);
  request.input = random_update(random_);
  run_both(request, *request.input);
}

void Sequence::go_on(std::optional<std::size_t> at) { run_both(new_request(at), nullptr); }

// The id of each open question, by the key of the task that asks it.
std::map<std::string, std::string> Sequence::question_ids(std::size_t checkpoint) const {
  std::map<std::string, std::string> ids;
  const StateSnapshot snapshot = graph_.get_state(config_of(checkpoint));
  const std::vector<StepTask> tasks = step_tasks(plan_, model_.checkpoints[checkpoint].state);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!snapshot.tasks[i].interrupts.empty()) {
      ids[tasks[i].key()] = snapshot.tasks[i].interrupts.back().id;
    }
  }
  return ids;
}

void Sequence::answer(std::optional<std::size_t> at) {
  const std::size_t base = at.value_or(model_.checkpoints.size() - 1);
  Request request = new_request(at);
  request.is_command = true;
  const Value word = "answer" + std::to_string(action_);
  const std::map<std::string, std::string> ids = question_ids(base);
  const std::vector<std::string> open = model_.shown_questions(model_.checkpoints[base]);
  if (open.empty() || random_.chance(40)) {
    request.answer = word;
    // With changes to the state, but not of a past one, which must stay as it is.
    const bool may_update =
        !model_.is_superseded(at) && model_.checkpoints[base].command_writes.empty();
    if (may_update && random_.chance(30)) request.update = random_update(random_);
    return run_both(request, Command{.update = request.update, .resume = word});
  }
  ObjectBuilder answers;
  for (const std::string& key : open) {
    if (random_.chance(30) && open.size() > 1) continue;
    request.answers[key] = word;
    answers.set(ids.at(key), word);
  }
  if (request.answers.empty()) return go_on(at);
  run_both(request, Command{.resume = std::move(answers).build()});
}

void Sequence::command(std::optional<std::size_t> at) {
  const std::size_t base = at.value_or(model_.checkpoints.size() - 1);
  const ModelCheckpoint& checkpoint = model_.checkpoints[base];
  // Writes of several Commands to one step add up, and may then be refused.
  if (!checkpoint.command_writes.empty()) return go_on(at);
  Request request = new_request(at);
  request.is_command = true;
  request.update = random_update(random_);
  if (random_.chance(50)) request.gotos.push_back(random_.pick(plan_.nodes).name);
  if (request.update.empty() && request.gotos.empty()) return go_on(at);
  Command input{.update = request.update};
  for (const std::string& node : request.gotos) input.goto_.emplace_back(node);
  run_both(request, input);
}

void Sequence::update(std::optional<std::size_t> at) {
  const Value values = random_.chance(15) ? Value() : random_update(random_);
  // A thread begins with something that was written.
  const bool is_start = model_.checkpoints.empty() || random_.chance(15);
  std::string node = is_start ? START : random_.pick(plan_.nodes).name;
  AsNode as{node};
  if (model_.checkpoints.empty() && random_.chance(50)) {
    as.name.clear();
  } else if (!model_.checkpoints.empty() && random_.chance(40)) {
    // The engine finds the node that ran last, if there is just one.
    const State& state = model_.checkpoints[at.value_or(model_.checkpoints.size() - 1)].state;
    const bool is_join_target = state.last_ran.size() == 1 && !plan_.joins.empty() &&
                                plan_.joins.front().to == *state.last_ran.begin();
    if (state.last_ran.size() == 1 && !is_join_target) {
      node = *state.last_ran.begin();
      as.name.clear();
    }
  }
  trace_ += "update " + text(values) + " as '" + as.name + "' (" + node + ")" + place(at) + '\n';
  const Ending found = ending_of([&] { graph_.update_state(config_of(at), values, as); });
  expect_equal(found, model_.update(at, {{node, values}}), "how the update ends");
}

void Sequence::update_several(std::optional<std::size_t> at) {
  std::vector<std::vector<StateUpdate>> supersteps(1 + random_.below(2));
  std::vector<std::vector<NodeUpdate>> expected(supersteps.size());
  for (std::size_t step = 0; step < supersteps.size(); ++step) {
    for (std::size_t i = 0; i < 2; ++i) {
      const Value values = random_update(random_);
      const std::string& node = random_.pick(plan_.nodes).name;
      supersteps[step].push_back({values, node, {}});
      expected[step].push_back({node, values});
      trace_ += "update " + std::to_string(step) + " of several " + text(values) + " as '" + node +
                "'" + place(at) + '\n';
    }
  }
  const Ending found = ending_of([&] { graph_.bulk_update_state(config_of(at), supersteps); });
  Ending ending = model_.update(at, expected[0]);
  if (ending == Ending::normal && expected.size() > 1) {
    ending = model_.update(std::nullopt, expected[1]);
  }
  expect_equal(found, ending, "how the updates end");
}

void Sequence::update_as_input(std::optional<std::size_t> at) {
  const Value input = random_update(random_);
  trace_ += "update " + text(input) + " as input" + place(at) + '\n';
  graph_.update_state(config_of(at), input, as_node("__input__"));
  model_.update_as_input(at, input);
}

void Sequence::clear_tasks(std::optional<std::size_t> at) {
  trace_ += "clear tasks" + place(at) + '\n';
  const Ending found =
      ending_of([&] { graph_.update_state(config_of(at), nullptr, as_node(END)); });
  expect_equal(found, model_.clear_tasks(at), "how clearing ends");
}

void Sequence::copy(std::optional<std::size_t> at) {
  trace_ += "copy" + place(at) + '\n';
  graph_.update_state(config_of(at), nullptr, as_node("__copy__"));
  model_.copy(at);
}

}  // namespace clew::property
