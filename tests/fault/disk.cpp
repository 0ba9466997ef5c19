// Runs a small thread on a disk that goes wrong, for every operation and in every
// way, and checks that nothing that was promised is lost.
#include "disk.hpp"

#include <future>
#include <iostream>
#include <optional>

#include <clew/json.hpp>

#include "faulty_vfs.hpp"
#include "process.hpp"
#include "temporary_folder.hpp"
#include "trial.hpp"

namespace clew::fault {
namespace {

// How often a program that meets a storage error tries again.
constexpr int kAttempts = 3;

// One way to go wrong; at each operation in turn.
struct Way {
  Fault fault;
  bool stays = false;
  std::uint64_t seed = 0;
};

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const Fault fault :
       {Fault::io_error, Fault::read_error, Fault::torn_write, Fault::disk_full}) {
    ways.push_back({fault, false});
    ways.push_back({fault, true});
  }
  for (std::uint64_t seed = 0; seed < 4; ++seed) ways.push_back({Fault::power_loss, false, seed});
  return ways;
}

std::string text_of(const Way& way) {
  return std::string(Value(way.fault).as_string()) + (way.stays ? ", for good"
                                                      : way.seed > 0
                                                          ? ", seed " + std::to_string(way.seed)
                                                          : "");
}

// What is wrong must be said, with what it is about and SQLite's own code.
void note_error(const StorageError& error, Sink& sink) {
  const std::string text = error.what();
  if (!text.starts_with("SQLite") || text.find("(code ") == std::string::npos) {
    throw Error("an unclear error: " + text);
  }
  sink.note({"error"});
}

// A saver that is closed when this is gone. Threads that took part in a run may
// hold theirs a moment longer than it takes, so its end is waited for.
class OpenSaver {
 public:
  explicit OpenSaver(std::shared_ptr<SqliteSaver> saver) {
    SqliteSaver* address = saver.get();
    saver_.reset(address, [saver = std::move(saver), closed = closed_](SqliteSaver*) mutable {
      saver.reset();
      closed->set_value();
    });
  }
  OpenSaver(const OpenSaver&) = delete;
  OpenSaver& operator=(const OpenSaver&) = delete;
  ~OpenSaver() {
    saver_.reset();
    closed_->get_future().wait();
  }

  const std::shared_ptr<SqliteSaver>& get() const { return saver_; }

 private:
  std::shared_ptr<std::promise<void>> closed_ = std::make_shared<std::promise<void>>();
  std::shared_ptr<SqliteSaver> saver_;
};

// As a program would: tries again with the saver it has, and with a new one.
void run_on_faulty_disk(Trial& trial, const FaultPlan& plan) {
  install_faulty_disk(plan);
  std::optional<OpenSaver> saver;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    try {
      if (!saver) saver.emplace(trial.open());
      trial.run_to_end(saver->get());
      saver->get()->vacuum();  // the log of so small a run would only be copied when it is closed
      break;
    } catch (const StorageError& error) {
      note_error(error, trial.sink());
    }
    if (attempt > 0) saver.reset();
  }
  saver.reset();
  trial.sink().note({"operations", std::to_string(disk_operations())});
}

struct Outcome {
  bool was_killed = false;
  std::size_t errors = 0;
  std::uint64_t operations = 0;
  Value values;
};

Outcome run_trial(const Kind& kind, const FaultPlan& plan) {
  const TemporaryFolder folder;
  Trial trial(folder.path, kind, {});
  Outcome outcome;
  try {
    const Ending ending = run_in_process([&] { run_on_faulty_disk(trial, plan); });
    if (!ending.was_killed && ending.code != 0) throw Error("the process failed");
    outcome.was_killed = ending.was_killed;
    trial.check();
    trial.sink().note({"(repaired)"});
    const Ending last = run_in_process([&] { trial.run_to_end(trial.open()); });
    if (!last.is_success()) throw Error("the thread cannot be continued");
    outcome.values = trial.check_end();
  } catch (const std::exception&) {
    std::cout << trial.story();
    throw;
  }
  for (const Sink::Line& line : trial.sink().lines()) {
    if (line[0] == "error") ++outcome.errors;
    if (line[0] == "operations") outcome.operations = std::stoull(line[1]);
  }
  return outcome;
}

// One kind of run, whose operations go wrong: each in all ways; or with a stride each way at
// every `stride`-th, one operation later than the way before it, so that none is left out.
class DiskTest {
 public:
  DiskTest(const Kind& kind, std::size_t stride) : kind_(kind), stride_(stride) {}

  std::size_t run() {
    std::size_t faults = 0;
    std::size_t number = 0;
    for (const Way& way : all_ways()) faults += run(way, 1 + number++ % stride_);
    return faults;
  }

 private:
  std::size_t run(const Way& way, std::uint64_t first) const {
    const Outcome clean = run_trial(kind_, {.fault = way.fault});
    std::size_t faults = 0;
    std::size_t errors = 0;
    std::size_t deaths = 0;
    for (std::uint64_t at = first; at <= clean.operations; at += stride_) {
      const Outcome outcome = run_at(way, at, clean.values);
      ++faults;
      errors += outcome.errors > 0 ? 1 : 0;
      deaths += outcome.was_killed ? 1 : 0;
    }
    std::cout << fault::text_of(kind_) << "; " << text_of(way) << ": " << faults << " of "
              << clean.operations << " operations, " << errors << " gave errors, " << deaths
              << " deaths\n";
    // What nobody notices tests nothing.
    if (errors + deaths == 0) throw Error("no operation of the run could fail");
    return faults;
  }

  Outcome run_at(const Way& way, std::uint64_t at, const Value& expected) const {
    try {
      Outcome outcome = run_trial(kind_, {way.fault, at, way.stays, way.seed});
      if (outcome.values != expected) throw Error("the end is " + to_json(outcome.values));
      return outcome;
    } catch (const std::exception& error) {
      throw Error(fault::text_of(kind_) + "; " + text_of(way) + ", at operation " +
                  std::to_string(at) + ": " + error.what());
    }
  }

  Kind kind_;
  std::size_t stride_;
};

}  // namespace

void test_faulty_disk(Shape shape, std::size_t stride) {
  std::size_t faults = 0;
  for (const SqliteLayout layout : {SqliteLayout::native, SqliteLayout::langgraph}) {
    faults += DiskTest({.shape = shape, .layout = layout}, stride).run();
  }
  std::cout << faults << " faults passed\n";
}

}  // namespace clew::fault
