// One run of one graph: super-steps of plan, run, merge, save until nothing is
// left to do. plan.cpp, run.cpp, merge.cpp and save.cpp hold one moment each,
// start.cpp the beginning and finish.cpp the end.
//
// A Loop is not tied to a thread. It runs in the thread that starts it until
// tasks are left to others; whoever finishes the last task of a step goes on.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <clew/errors.hpp>
#include <clew/extension.hpp>
#include <clew/stream.hpp>

#include "pregel/save_queue.hpp"
#include "pregel/task_run.hpp"
#include "pregel/thread_state.hpp"

namespace clew::pregel {

// During a replay, each subgraph first loads what it had before the replayed
// checkpoint; shared by all graphs of the run.
struct ReplayState {
  std::string checkpoint_id;
  std::mutex mutex;
  std::unordered_set<std::string> visited;

  bool is_first_visit(std::string_view checkpoint_ns);
};

// Where events go. Called by one thread at a time.
struct EventSink {
  std::vector<StreamMode> modes;
  bool subgraphs = false;
  // Gets the id of the task that tells it; of none if a graph does, or nobody wants to know.
  std::function<void(StreamEvent, std::string_view task_id)> emit;
  bool names_tasks = false;
  std::mutex mutex = {};
  std::unordered_set<std::string> seen_messages = {};

  bool wants(StreamMode mode) const;
  void tell(StreamEvent event, TaskRun* task);
};

// What a run gets from its caller or from the task around it.
struct Scope {
  Config config;  // thread, checkpoint, limits, context
  TaskRun* parent = nullptr;
  std::shared_ptr<Checkpointer> checkpointer;
  // Of the graphs around, for those inside: a graph that keeps nothing itself passes it on.
  std::shared_ptr<Checkpointer> checkpointer_around;
  std::shared_ptr<Store> store;
  std::shared_ptr<EventSink> sink;
  // Names a new checkpoint; without it the name is new, too.
  std::function<std::string(const std::string& checkpoint_ns, std::int64_t step)> name_checkpoint;
  Durability durability = Durability::async;
  Value metadata;             // of the run, as its events have it
  Value checkpoint_metadata;  // the same for its checkpoints
  Value place;                // see Checkpointer::stores_places(); null if it does not
  std::optional<bool> resuming;
  std::shared_ptr<ReplayState> replay;
  Value resume_map;
  bool is_stream = false;  // shows all channels unless told otherwise
  // The task ends with this run, and nobody else reads what it stores: its last checkpoints
  // may be stored with that of the step around.
  bool hands_over = false;
  // Asked between steps. True: the thread leaves the run, to whoever calls resume().
  std::function<bool()> leaves;
};

class Loop : public std::enable_shared_from_this<Loop> {
 public:
  using Done = std::function<void(std::exception_ptr)>;

  static std::shared_ptr<Loop> make(std::shared_ptr<const Graph> graph, Scope&& scope, Value input);

  Loop(std::shared_ptr<const Graph> graph, Scope&& scope, Value input);

  // Runs; `done` is called once, by the thread that ends the run.
  void start(Done done);

  // Goes on with a run that was left; see Scope::leaves.
  void resume() { advance(); }

  // Runs and waits for the end; throws what the run failed with.
  Value run();

  // After `done`: what the run returns.
  Value result() const;

  // For tasks -----------------------------------------------------------------
  const Graph& graph() const { return *graph_; }
  const Scope& scope() const { return scope_; }
  const std::string& checkpoint_id();
  Executor& executor() const { return executor_; }
  int checkpoint_version() const { return checkpoint_.v; }
  std::int64_t step() const { return step_; }
  const std::string& checkpoint_ns() const { return scope_.config.checkpoint_ns; }
  const Value& previous() const { return previous_; }
  // The plain answer given to the run, once.
  std::optional<Value> take_null_resume();
  void emit_custom(TaskRun& task, Value chunk);
  void emit_message(TaskRun& task, const Value& message, const Value& metadata);
  void check_cancelled() const;
  // What a graph that this task runs gets.
  Scope scope_for(TaskRun& task, const Graph& child);
  std::shared_ptr<Call> call(TaskRun& caller, std::shared_ptr<const TaskFunction::Spec> spec,
                             Value argument);
  Value result_of(Call& call);
  // Runs the writers of a node on what it returned.
  void write_result(const Node& node, const Value& result, TaskRun& task,
                    std::vector<Write>& writes);

 private:
  friend class StateAccess;

  // The tasks that the threads of a step share out among themselves. A thread
  // that comes late, even steps later, finds nothing left.
  struct Round {
    explicit Round(std::vector<TaskRun*> runnable) : tasks(std::move(runnable)) {}

    const std::vector<TaskRun*> tasks;
    std::atomic<std::size_t> next{0};
    std::size_t helpers = 0;  // threads that were asked to join
    std::size_t most_helpers = 0;
    std::size_t most_under_way = 0;  // Config::max_concurrency
    std::atomic<std::size_t> under_way{0};

    // Null if none is left, or as many are under way as may be: see make_way().
    TaskRun* take() {
      if (most_under_way > 0 && !begin_another()) return nullptr;
      const std::size_t index = next.fetch_add(1, std::memory_order_relaxed);
      return index < tasks.size() ? tasks[index] : nullptr;
    }
    // Whoever is refused relies on one of those under way to see the task that is left when
    // it ends, so a refusal must not be seen as one more.
    bool begin_another() {
      std::size_t now = under_way.load(std::memory_order_acquire);
      while (now < most_under_way) {
        if (under_way.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) return true;
      }
      return false;
    }
    std::size_t waiting() const {
      return tasks.size() - std::min(tasks.size(), next.load(std::memory_order_relaxed));
    }
    bool may_need_more() const { return helpers < most_helpers && waiting() > 0; }
  };
  struct Pending {
    Value task;  // its id
    Write write;

    std::string_view task_id() const { return task.as_string(); }
  };

  // start.cpp
  void enter();
  bool starts_anew() const;
  void load();
  void adopt(const CheckpointTuple& saved);
  void load_pending(std::span<const PendingWrite> writes);
  void stand_still();  // at the loaded checkpoint, to be looked at
  void choose_output();
  void force_snapshot(Index channel);
  void force_pending(const std::vector<Pending>& writes);
  std::string bound_of_replay();
  bool decide_resuming() const;
  bool decide_time_travel() const;
  void map_command_input(bool forks, std::vector<Pending>& carried);
  void check_resume(const Command& command);
  void apply_null_writes(const std::vector<Pending>& carried);
  void resume_thread(bool forks);
  void apply_input();

  // plan.cpp
  void plan();
  std::vector<std::shared_ptr<TaskRun>> prepare_tasks(
      std::vector<std::shared_ptr<TaskRun>> tasks = {});
  std::shared_ptr<TaskRun> prepare_push(std::int64_t index, const Value& packet);
  std::shared_ptr<TaskRun> prepare_pull(const Node& node);
  std::shared_ptr<TaskRun> prepare_error_handler(TaskRun& failed, std::exception_ptr error,
                                                 std::string text);
  void fill_scratchpad(TaskRun& task);
  bool tick();
  void reapply_writes(std::span<TaskRun* const> tasks);
  void resume_error_handlers();
  bool should_interrupt(const std::vector<std::string>& of_run,
                        const std::vector<std::string>& of_graph);
  void match_cached_writes();
  void find_in_cache(TaskRun& task);
  bool claim(TaskRun& task);

  // run.cpp
  void advance();
  bool run_tasks();  // false: others will go on
  bool give_token();
  std::function<void()> helper(const std::shared_ptr<Round>& round);
  void run_some(Round& round);
  void run_alone(TaskRun& task);
  bool tells_with_step() const;
  void run_in_place(TaskRun& task);
  bool are_quick(const Round& round) const;
  void ask_for_help(const std::shared_ptr<Round>& round, bool takes_part);
  bool call_for_more(std::shared_ptr<Round>& seen);
  static bool is_awaited(const TaskRun& task);
  void execute(TaskRun& task);
  void name_task(TaskRun& task) const;
  void run_function(TaskRun& task);
  Task<void> execute_coroutine(TaskRun& task);
  Task<Value> run_subgraph(TaskRun& task);
  void write_task_result(TaskRun& task, const Value& result);
  void schedule_error_handler(TaskRun& failed, std::exception_ptr error, std::string text);
  std::optional<std::chrono::nanoseconds> after_attempt(TaskRun& task, std::exception_ptr error);
  std::optional<std::chrono::nanoseconds> next_attempt(TaskRun& task);
  bool handle_parent_command(TaskRun& task, ParentCommand& command);
  void finish_task(TaskRun& task);
  void settle(TaskRun& task);
  void make_way(TaskRun& ended);
  void commit(TaskRun& task, const std::exception_ptr& error);
  void commit_failure(TaskRun& task, const std::exception_ptr& error);
  void task_done();
  void check_errors();
  bool end_step();
  const std::vector<Index>& apply_tasks();
  const std::vector<Index>& apply_writes();

  // save.cpp
  // Stores what is left to store. False if that is done elsewhere: then this thread is free,
  // and another one goes on, with the error if there was one.
  using GoOn = std::function<void(const std::exception_ptr& error)>;
  template <class Function>
  bool flush_then(Function go_on) {
    const bool is_alone = scope_.parent || !graph_->save_group;
    if (!is_alone) return flush_with_others(GoOn(std::move(go_on)));
    saves_.flush();
    return true;
  }
  bool flush_with_others(GoOn go_on);
  void put_writes(TaskRun& task, std::span<const Write> writes, bool cached = false);
  void put_distinct_writes(TaskRun& task, std::span<const Write> writes, bool cached);
  void put_null_writes(std::vector<Write> writes);
  void keep_pending(TaskRun& task, std::span<const Write> writes);
  std::optional<WritesPut> writes_put(std::string_view task_id, std::string_view task_path,
                                      std::string_view node, std::span<const Write> writes,
                                      const std::string& checkpoint_id) const;
  void save_writes(TaskRun& task, std::span<const Write> writes);
  void save_with_next(std::string_view task_id, std::string_view task_path, std::string_view node,
                      std::span<const Write> writes, const std::string& checkpoint_id);
  bool saves_at_once() const;
  std::unordered_map<std::string_view, TaskRun*> tasks_by_id() const;
  void put_checkpoint(std::string_view source);
  std::string new_checkpoint_id(std::int64_t step) const;
  void put_final_checkpoint();
  void put_exit_writes();
  void look_for_other_runs();
  void put_exit_delta_writes();
  void save_checkpoint(std::vector<Index> snapshots);
  std::vector<Index> channels_to_snapshot(const Value& counters) const;
  Value count_updates() const;
  void set_counters(const std::vector<Index>& snapshots);
  void bump_unwritten(const std::vector<Index>& snapshots);
  void put_stub();
  void note_step_deltas();
  bool is_untracked(const Write& write) const;
  Value sanitized(const Write& write) const;
  void give_message_ids(std::span<Write> writes) const;
  void sanitize_sends(Value& channel_values) const;
  void store_in_cache(TaskRun& task, std::span<const Write> writes);

  // emit.cpp
  bool wants(StreamMode mode) const;
  bool tells(StreamMode mode) const;
  void emit(StreamMode mode, Value payload, TaskRun* task = nullptr);
  bool needs_each_value() const;
  void emit_values();
  void emit_updates(TaskRun& task, std::span<const Write> writes, bool cached);
  void emit_task(TaskRun& task);
  void emit_task_result(TaskRun& task, std::span<const Write> writes);
  void emit_checkpoint();
  void emit_messages(TaskRun& task, const Value& result);
  void output_writes(TaskRun& task, std::span<const Write> writes, bool cached);
  void output_questions(TaskRun& task, std::span<const Write> writes);
  static Value with_node_metadata(const Value& metadata, TaskRun& task);
  Value task_metadata(TaskRun& task) const;
  Value task_place(TaskRun& task) const;
  Value message_metadata(TaskRun& task) const;
  Value config_of(const std::string& id) const;
  Value checkpoint_task(TaskRun& task, const std::vector<PendingWrite>& pending);
  Value read_output_now() const;

  // finish.cpp
  void finish(std::exception_ptr error);
  void end(std::exception_ptr error);
  std::exception_ptr not_stored(std::exception_ptr storing_error,
                                const std::exception_ptr& error) const;
  void save_at_exit(const std::exception_ptr& error);
  void check_steps() const;
  bool suppress_interrupt(std::exception_ptr error);
  static void check_parent_command(std::exception_ptr error);
  Value read_output();
  bool writes_output(const TaskRun& task) const;

  std::shared_ptr<const Graph> graph_;
  Scope scope_;
  Value input_;
  Done done_;
  Executor& executor_;

  const Selection* output_ = nullptr;  // the channels of the result
  Index output_index_ = kUnknown;      // the same among the graph's selections
  Selection own_output_;               // if they were given by the caller

  ThreadState state_;
  Checkpoint checkpoint_;                   // its id; the rest is in state_
  Value metadata_;                          // of the checkpoint
  std::string loaded_id_;                   // the checkpoint that was loaded, or of the empty one
  std::string saved_id_;                    // parent of the next put; empty: none
  std::optional<std::string> previous_id_;  // parent of the newest checkpoint
  std::optional<std::string> expected_head_;
  // Writes of this step, and of earlier runs of it; guarded by mutex_ while tasks run.
  std::vector<Pending> pending_;
  std::atomic<bool> has_written_{false};  // a task of this run, also if nothing is kept
  Value previous_;
  std::optional<std::vector<Index>> updated_;
  std::vector<Index> candidates_;    // scratch of prepare_tasks()
  std::vector<Write> spare_writes_;  // memory for those of the next task

  std::int64_t step_ = 0;
  std::int64_t stop_ = 0;
  bool is_out_of_steps_ = false;
  bool has_entered_ = false;  // the input was taken
  bool has_parent_ = false;   // a checkpoint was loaded
  bool loaded_latest_ = false;
  bool is_addressed_ = false;   // by checkpoint id, or by a replaying parent
  bool is_superseded_ = false;  // the thread moved past the addressed checkpoint
  bool is_replaying_ = false;

  // Tasks of the step, in order; calls and error handlers follow as they come.
  std::mutex mutex_;
  std::mutex id_mutex_;
  std::vector<std::shared_ptr<TaskRun>> tasks_;
  // Tokens: of tasks, and of the thread that started them.
  std::atomic<std::size_t> outstanding_{0};
  std::atomic<std::size_t> running_{0};  // tasks that have no outcome yet
  std::shared_ptr<Round> limited_;       // the step's, if not all may be under way at once
  std::shared_ptr<Round> watched_;       // may get more helpers; guarded by mutex_
  bool is_watching_ = false;             // a look at it is due
  // The step's only task to run, if what it wrote is told with the step: as in LangGraph,
  // nobody hears of writes that a channel then refuses, unless events come as they are made.
  TaskRun* alone_ = nullptr;
  bool is_alone_untold_ = false;
  std::condition_variable calls_done_;
  std::size_t loaded_writes_ = 0;  // stored with the checkpoint that was loaded
  // As many as a checkpoint that follows it may find there; nothing: any.
  std::optional<std::size_t> known_writes_;
  std::unordered_set<std::string> written_tasks_;

  SaveQueue saves_;
  bool hides_untracked_;          // what nodes write to such channels is not stored
  bool is_step_unsaved_ = false;  // under `sync`: stored before another step runs

  // Delta channels; see save.cpp.
  std::vector<Index> forced_snapshots_;
  std::vector<Pending> resume_loaded_;
  std::unordered_set<std::string> reapplied_;
  struct ExitWrite {
    std::int64_t step;
    std::string task_id;
    std::string task_path;
    std::string node;
    Write write;
  };
  std::vector<ExitWrite> exit_writes_;
  std::vector<std::pair<std::string, Index>> stored_delta_writes_;
  std::vector<Write> exit_command_writes_;
  std::optional<std::int64_t> exit_first_step_;

  // The result: the state when it was last worth an event, and open questions.
  Value latest_;
  bool latest_is_current_ = false;
  bool has_latest_ = false;
  std::vector<Interrupt> interrupts_;

  // For run().
  bool has_ended_ = false;
  std::condition_variable ended_;
};

// Runs a loop to its end; resumes whoever awaits it.
struct LoopAwaiter {
  explicit LoopAwaiter(std::shared_ptr<Loop> run) : loop(std::move(run)) {}

  std::shared_ptr<Loop> loop;
  std::exception_ptr error;
  // 0: neither has happened, 1: the run has ended, 2: the awaiter is suspended.
  std::atomic<int> state{0};

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> awaiter);
  Value await_resume() const;
};

}  // namespace clew::pregel
