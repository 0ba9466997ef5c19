// What happened, noted while it happens by the threads that make it happen, and
// compared afterwards with what the checkpointer holds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <clew/clew.hpp>

namespace clew::stress {

// How the names of threads begin. Several callers use the shared ones; only on
// the mixed ones they also update the state and run under durability `exit`.
inline constexpr std::string_view kOwn = "own";
inline constexpr std::string_view kShared = "shared";
inline constexpr std::string_view kMixed = "mixed";

enum class Ending { finished, asked, failed, cancelled, conflict, nothing_to_do };
CLEW_ENUM(Ending, finished, asked, failed, cancelled, conflict, nothing_to_do)

// One call of invoke().
struct RunRecord {
  std::size_t number = 0;
  std::string thread_id;
  bool is_shared = false;     // others use the thread too
  bool is_addressed = false;  // it began at a given checkpoint
  Durability durability = Durability::async;
  std::uint64_t began = 0;  // times of the ledger's clock
  std::uint64_t ended = 0;
  Ending ending = Ending::finished;
  Value log;  // of the result, if it finished
};

// An execution of a node that came to its end.
struct Completion {
  std::size_t run = 0;
  std::string task_id;
  bool is_in_subgraph = false;
};

// An update_state() that returned.
struct Update {
  std::string thread_id;
  std::string checkpoint_id;
  std::string token;
};

class Ledger {
 public:
  std::uint64_t now() { return ++clock_; }
  std::size_t next_number() { return numbers_++; }

  void add(RunRecord run) { add_to(runs_, std::move(run)); }
  void add(Completion completion) { add_to(completions_, std::move(completion)); }
  void add(Update update) { add_to(updates_, std::move(update)); }

  // Once nothing runs any more.
  const std::vector<RunRecord>& runs() const { return runs_; }
  const std::vector<Completion>& completions() const { return completions_; }
  const std::vector<Update>& updates() const { return updates_; }

 private:
  template <class T>
  void add_to(std::vector<T>& list, T entry) {
    const std::lock_guard lock(mutex_);
    list.push_back(std::move(entry));
  }

  std::atomic<std::uint64_t> clock_{0};
  std::atomic<std::size_t> numbers_{0};
  std::mutex mutex_;
  std::vector<RunRecord> runs_;
  std::vector<Completion> completions_;
  std::vector<Update> updates_;
};

// Compares the ledger with the stored threads. Throws Error that says what is wrong.
void check_ledger(const Ledger& ledger, const CompiledGraph& graph, Checkpointer& saver);

}  // namespace clew::stress
