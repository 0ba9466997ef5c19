// Runs of the model.
#include <algorithm>

#include "model.hpp"

namespace clew::property {
namespace {

const std::string kAnswered = "answered";
const std::string kNothing = "nothing";

bool names_any(const std::vector<std::string>& nodes, const std::vector<StepTask>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(), [&](const StepTask& task) {
    return std::find(nodes.begin(), nodes.end(), task.name) != nodes.end();
  });
}

// The order in which the effects of a step are applied.
bool precedes(const StepTask& a, const StepTask& b) {
  if (a.send.has_value() != b.send.has_value()) return !a.send;
  return a.send ? *a.send < *b.send : a.name < b.name;
}

class Run {
 public:
  Run(Model& model, const Request& request)
      : model_(model), plan_(model.plan()), request_(request) {}

  Ending go() {
    model_.questions_asked = 0;
    const Ending begun = enter();
    const Ending ending = begun == Ending::normal ? loop() : begun;
    if (ending != Ending::ambiguous_answer && ending != Ending::empty_input) leave();
    return ending;
  }

 private:
  enum class Outcome { finished, asked, failed };

  bool is_exit() const { return request_.durability == Durability::exit; }

  Ending enter() {
    if (!model_.checkpoints.empty()) base_ = request_.at.value_or(model_.checkpoints.size() - 1);
    if (base_) current_ = model_.checkpoints[*base_];
    parent_ = stored_ = base_;
    state_ = current_.state;
    step_ = current_.step + 1;
    stop_ = step_ + request_.recursion_limit + 1;

    has_children_ = model_.is_superseded(request_.at);
    is_resuming_ = state_.is_written && !request_.input;
    is_time_travel_ = request_.at && !request_.has_answer();
    is_replaying_ = is_time_travel_ || has_children_;
    const bool is_branch = current_.source == "update" || current_.source == "fork";
    const bool forks = is_resuming_ && is_time_travel_ && (!is_branch || has_children_);
    if (!is_time_travel_) answer_ = current_.command_answer;

    std::vector<Write> carried;
    if (request_.is_command) {
      if (request_.answer && model_.open_questions(current_).size() > 1) {
        return Ending::ambiguous_answer;
      }
      take_command(forks, carried);
    }
    std::vector<Write> command_writes = current_.command_writes;
    command_writes.insert(command_writes.end(), carried.begin(), carried.end());
    if (!command_writes.empty()) state_ = apply(plan_, state_, {{command_writes, "", false}});

    if (is_resuming_) {
      state_.has_news = false;
      if (forks) put("fork");
    } else if (request_.input) {
      take_input();
    } else {
      return Ending::empty_input;
    }
    return Ending::normal;
  }

  void take_command(bool forks, std::vector<Write>& carried) {
    std::vector<Write> writes;
    for (const std::string& target : request_.gotos) writes.push_back(goto_write(target));
    if (request_.update.is_object()) {
      for (auto [key, value] : request_.update.items()) {
        writes.push_back({std::string(key), value});
      }
    }
    if (forks) {
      carried = writes;
      return;
    }
    current_.command_writes.insert(current_.command_writes.end(), writes.begin(), writes.end());
    // A Command takes the place of what an earlier one of the step answered.
    if (request_.answer || !writes.empty()) answer_ = request_.answer;
    if (request_.answer && !is_exit()) current_.command_answer = answer_;
    sync();
  }

  // What did not get to run is dropped.
  void take_input() {
    std::vector<Effect> effects;
    for (const StepTask& task : step_tasks(plan_, state_)) {
      effects.push_back({{}, task.send ? "" : task.name, true});
    }
    Write input = goto_write(START);
    input.value = *request_.input;
    effects.push_back({{input}, "", false});
    state_ = apply(plan_, state_, effects);
    put("input");
  }

  Ending loop() {
    while (true) {
      const std::vector<StepTask> tasks = step_tasks(plan_, state_);
      if (step_ > stop_) return Ending::out_of_steps;
      if (tasks.empty()) return Ending::normal;
      if (state_.has_news && names_any(plan_.interrupt_before, tasks)) return Ending::normal;

      std::vector<std::pair<StepTask, Effect>> done;
      const Outcome outcome = run_tasks(tasks, done);
      sync();
      if (outcome == Outcome::failed) return Ending::node_failed;

      std::sort(done.begin(), done.end(),
                [](const auto& a, const auto& b) { return precedes(a.first, b.first); });
      std::vector<Effect> effects;
      for (auto& [task, effect] : done) effects.push_back(std::move(effect));
      State merged;
      try {
        // A run that stops for a question shows what its other tasks wrote.
        merged = apply(plan_, state_, effects);
      } catch (const Refused&) {
        const bool is_unsaved = is_exit() && !stored_ && outcome != Outcome::asked;
        if (is_unsaved) {
          current_.state = apply_part(plan_, state_, effects);
          model_.has_half_a_step = true;
        }
        return Ending::refused;
      }
      if (outcome == Outcome::asked) return Ending::normal;
      state_ = std::move(merged);
      put("loop");
      is_first_step_ = false;
      if (state_.has_news && names_any(plan_.interrupt_after, tasks)) return Ending::normal;
    }
  }

  Outcome run_tasks(const std::vector<StepTask>& tasks,
                    std::vector<std::pair<StepTask, Effect>>& done) {
    Outcome worst = Outcome::finished;
    for (const StepTask& task : tasks) {
      TaskRecord& record = current_.tasks[task.key()];
      Effect effect{{}, task.send ? "" : task.name, true};
      if (record.has_finished() && !is_replaying_) {
        effect.writes = record.write_list();
      } else {
        const Outcome outcome = run_task(task, record, effect.writes);
        if (outcome == Outcome::asked) ++model_.questions_asked;
        worst = std::max(worst, outcome);
      }
      done.emplace_back(task, std::move(effect));
    }
    return worst;
  }

  Outcome run_task(const StepTask& task, TaskRecord& record, std::vector<Write>& writes) {
    if (task.name == START) {
      writes = result_writes(plan_, state_, START, task.input);
      return store(record, writes);
    }
    const NodePlan& node = plan_.node(task.name);
    if (node.is_subgraph) return run_subgraph(task, node, record, writes);

    std::vector<Value> answers = is_time_travel_ ? std::vector<Value>() : record.answers;
    add_answer_by_key(task, answers);
    for (std::size_t i = 0; i < node.questions; ++i) {
      if (i < answers.size() || take_answer(answers)) continue;
      record.has_asked = true;
      if (i > 0) record.answers = answers;
      return Outcome::asked;
    }
    answers.resize(node.questions);
    if (node.questions > 0) record.answers = answers;
    if (request_.failing.contains(node.name)) return Outcome::failed;
    writes.assign(node.questions, {kAnswered, {}});
    for (Write& write : result_writes(plan_, state_, node.name,
                                      node_update(node, task.input, answers), node.gotos)) {
      writes.push_back(std::move(write));
    }
    return store(record, writes);
  }

  // A subgraph that was stopped goes on with what it was first given.
  Outcome run_subgraph(const StepTask& task, const NodePlan& node, TaskRecord& record,
                       std::vector<Write>& writes) {
    TaskRecord::Subgraph subgraph;
    const bool goes_on = is_first_step_ && is_resuming_ && !is_time_travel_ && record.subgraph;
    if (goes_on) {
      subgraph = *record.subgraph;
    } else {
      subgraph.given = task.input["last"];
    }
    if (!subgraph.result) {
      add_answer_by_key(task, subgraph.answers);
      const bool is_answered =
          subgraph.answers.size() >= node.questions || take_answer(subgraph.answers);
      if (!is_answered || request_.failing.contains(node.name)) {
        record.subgraph = subgraph;
        record.has_asked = record.has_asked || !is_answered;
        return is_answered ? Outcome::failed : Outcome::asked;
      }
      subgraph.answers.resize(node.questions);
      subgraph.result = subgraph_result(subgraph.given, subgraph.answers);
      if (!is_exit()) record.subgraph = subgraph;
    }
    writes = result_writes(plan_, state_, node.name, object({{"last", *subgraph.result}}));
    return store(record, writes);
  }

  void add_answer_by_key(const StepTask& task, std::vector<Value>& answers) {
    if (!is_first_step_ || !is_resuming_) return;
    const auto answer = request_.answers.find(task.key());
    if (answer != request_.answers.end()) answers.push_back(answer->second);
  }

  bool take_answer(std::vector<Value>& answers) {
    if (!answer_) return false;
    answers.push_back(*answer_);
    answer_.reset();
    return true;
  }

  Outcome store(TaskRecord& record, std::vector<Write>& writes) {
    const bool is_silent = std::all_of(writes.begin(), writes.end(), [](const Write& write) {
      return write.channel == kAnswered;
    });
    if (is_silent) writes.push_back({kNothing, {}});
    for (std::size_t i = 0; i < writes.size(); ++i) {
      if (writes[i].channel == kAnswered) continue;
      // Other children of the checkpoint must not see new writes to delta channels.
      const bool is_kept_out = has_children_ && is_delta(writes[i].channel);
      record.writes.emplace(i, is_kept_out ? Write{kNothing, {}} : writes[i]);
    }
    return Outcome::finished;
  }

  void put(std::string source) {
    ModelCheckpoint next;
    next.parent = parent_;
    next.source = std::move(source);
    next.step = step_++;
    next.state = state_;
    current_ = std::move(next);
    stored_.reset();
    answer_.reset();  // it was for this step
    is_replaying_ = has_children_ = false;
    sync();
  }

  // Stores the open step; under durability `exit` that is for the end.
  void sync() {
    if (!is_exit()) save();
  }
  void save() {
    if (stored_) {
      model_.checkpoints[*stored_] = current_;
      return;
    }
    model_.checkpoints.push_back(current_);
    parent_ = stored_ = model_.checkpoints.size() - 1;
  }
  void leave() {
    if (!is_exit()) return;
    if (stored_ && request_.answer && answer_) current_.command_answer = answer_;
    save();
  }

  Model& model_;
  const Plan& plan_;
  const Request& request_;
  std::optional<std::size_t> base_;
  std::optional<std::size_t> parent_;
  std::optional<std::size_t> stored_;  // where current_ is stored
  ModelCheckpoint current_;            // the open step's
  State state_;                        // with the writes of Commands
  std::optional<Value> answer_;        // given and not yet taken
  std::int64_t step_ = 0;
  std::int64_t stop_ = 0;
  bool is_resuming_ = false;
  bool is_time_travel_ = false;
  bool is_replaying_ = false;
  bool has_children_ = false;  // the checkpoint of the open step
  bool is_first_step_ = true;
};

}  // namespace

Ending Model::run(const Request& request) { return Run(*this, request).go(); }

}  // namespace clew::property
