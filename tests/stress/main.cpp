// Many threads make random calls on shared threads of one graph: runs that fail,
// ask, are cancelled, fork and collide, under every durability. Afterwards the
// stored threads must agree with a ledger of what happened.
//
//   clew-stress [--runs N] [--threads N]
//
// The exit code is 0 if all is well, 1 if not, 2 if the call itself was wrong.
#include <cstdlib>
#include <iostream>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "arguments.hpp"
#include "graph.hpp"
#include "ledger.hpp"

namespace clew::stress {

using tests::parse_number;
using tests::UsageError;
namespace {

constexpr std::string_view kUsage = "usage: clew-stress [--runs N] [--threads N]\n";

struct Options {
  std::size_t runs = 10'000;
  std::size_t threads = 8;
};

// One of the threads that make calls.
class Caller {
 public:
  Caller(std::size_t number, Ledger& ledger, const CompiledGraph& graph)
      : number_(number), ledger_(ledger), graph_(graph), random_(std::random_device{}()) {}

  void make_calls(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      choose_thread();
      if (kind_ != kShared && chance(10)) update();
      run();
    }
  }

 private:
  static constexpr std::size_t kSharedThreads = 6;
  static constexpr std::size_t kOwnThreads = 4;

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance(std::size_t percent) { return below(100) < percent; }

  void choose_thread() {
    const std::size_t choice = below(100);
    kind_ = choice < 35 ? kShared : choice < 70 ? kMixed : kOwn;
    const std::size_t number =
        kind_ == kOwn ? number_ * kOwnThreads + below(kOwnThreads) : below(kSharedThreads);
    thread_.thread_id = std::string(kind_) + std::to_string(number);
  }

  void update() {
    const std::string token = "update" + std::to_string(ledger_.next_number());
    const Value values = object({{"log", list({token})}, {"deltas", list({token})}});
    try {
      const Config made = graph_.update_state(thread_, values, as_node("plain"));
      ledger_.add(Update{thread_.thread_id, made.checkpoint_id, token});
    } catch (const ThreadConflict&) {
      if (kind_ == kOwn) throw;
    }
  }

  void run() {
    RunRecord record;
    record.number = ledger_.next_number();
    record.thread_id = thread_.thread_id;
    record.is_shared = kind_ != kOwn;
    record.durability = static_cast<Durability>(below(kind_ == kShared ? 2 : 3));
    Config config = thread_;
    if (chance(8)) address_any(config);
    record.is_addressed = !config.checkpoint_id.empty();
    config.durability = record.durability;
    config.metadata = object({{"run", record.number}});
    config.context = run_context(record.number, chance(50) ? 0 : 15);
    std::stop_source stop;
    config.stop = stop.get_token();
    const bool is_cancelled = chance(10);
    std::jthread canceller;
    record.began = ledger_.now();
    if (is_cancelled) {
      canceller = std::jthread([&stop, pause = below(300)] {
        std::this_thread::sleep_for(std::chrono::microseconds(pause));
        stop.request_stop();
      });
    }
    record.ending = invoke(choose_input(), config, record.log);
    record.ended = ledger_.now();
    ledger_.add(std::move(record));
  }

  // A checkpoint of the thread, if there is one.
  void address_any(Config& config) {
    HistoryOptions options;
    options.limit = 1 + below(8);
    for (const StateSnapshot& snapshot : graph_.get_state_history(thread_, options)) {
      config.checkpoint_id = snapshot.config.checkpoint_id;
    }
  }

  Value choose_input() {
    const std::size_t choice = below(100);
    if (choice < 40) return object();
    if (choice < 65) return nullptr;
    return Command{.resume = "yes"};
  }

  Ending invoke(const Value& input, const Config& config, Value& log) {
    try {
      const Value result = graph_.invoke(input, config);
      log = result["log"];
      return result["__interrupt__"].is_null() ? Ending::finished : Ending::asked;
    } catch (const NodeError&) {
      return Ending::failed;
    } catch (const Cancelled&) {
      return Ending::cancelled;
    } catch (const ThreadConflict&) {
      return Ending::conflict;
    } catch (const EmptyInputError&) {
      return Ending::nothing_to_do;
    } catch (const AmbiguousResumeError&) {
      return Ending::nothing_to_do;
    }
  }

  std::size_t number_;
  Ledger& ledger_;
  const CompiledGraph& graph_;
  std::minstd_rand random_;
  Config thread_;
  std::string_view kind_;
};

void report(const Ledger& ledger) {
  std::map<std::string, std::size_t> endings;
  for (const RunRecord& run : ledger.runs()) ++endings[std::string(Value(run.ending).as_string())];
  std::cout << ledger.runs().size() << " runs";
  for (const auto& [ending, count] : endings) std::cout << ", " << count << ' ' << ending;
  std::cout << "; " << ledger.completions().size() << " tasks finished, " << ledger.updates().size()
            << " updates\n";
}

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) throw UsageError(arguments[i] + " needs a value");
    if (arguments[i] == "--runs") {
      options.runs = parse_number(arguments[i + 1]);
    } else if (arguments[i] == "--threads") {
      options.threads = parse_number(arguments[i + 1]);
    } else {
      throw UsageError("unknown option '" + arguments[i] + "'");
    }
  }
  if (options.runs == 0 || options.threads == 0) {
    throw UsageError("there must be at least one run and one thread");
  }
  return options;
}

int run(const Options& options) {
  Ledger ledger;
  const auto saver = std::make_shared<InMemorySaver>();
  const CompiledGraph graph = build_graph(ledger, saver);
  std::vector<std::exception_ptr> errors(options.threads);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < options.threads; ++i) {
      threads.emplace_back([&, i] {
        try {
          Caller(i, ledger, graph).make_calls((options.runs + i) / options.threads);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
    }
  }
  try {
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    report(ledger);
    check_ledger(ledger, graph, *saver);
  } catch (const std::exception& error) {
    std::cout << "FAILED: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace clew::stress

int main(int argc, char** argv) {
  using namespace clew::stress;
  return clew::tests::run_program(
      argc, argv, kUsage,
      [](const std::vector<std::string>& arguments) { return run(parse_options(arguments)); });
}
