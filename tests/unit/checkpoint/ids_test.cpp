#include <clew/ids.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <clew/error.hpp>

#include "value/random.hpp"

namespace clew {
namespace {

constexpr const char* kCheckpoint = "1ef4f797-8335-6428-8001-8a1503f9b875";
constexpr const char* kTask = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
constexpr const char* kParentNs = "parent:6ba7b810-9dad-11d1-80b4-00c04fd430c8";
constexpr std::int64_t kNow = 1763239302000000000;

std::uint64_t seven() { return 7; }

TaskOrigin origin(std::int64_t step, std::string parent_ns = "", int v = kCheckpointVersion) {
  return {Uuid::parse(kCheckpoint), std::move(parent_ns), step, v};
}

// ---- Checkpoint ids

TEST(CheckpointIds, KeepIncreasingWhenTheClockStandsOrStepsBack) {
  std::int64_t now = kNow;
  CheckpointIds ids([&] { return now; }, seven);
  EXPECT_EQ(ids.next(0).to_string(), "1f0c2637-e008-6700-8000-000000000007");
  EXPECT_EQ(ids.next(1).to_string(), "1f0c2637-e008-6701-8001-000000000007");
  EXPECT_EQ(ids.next(2).to_string(), "1f0c2637-e008-6702-8002-000000000007");
  now -= 1'000'000'000;
  EXPECT_EQ(ids.next(3).to_string(), "1f0c2637-e008-6703-8003-000000000007");
  now += 2'000'000'000;
  EXPECT_EQ(ids.next(4), uuid6_from(now, 7, 4));
}

TEST(CheckpointIds, ShowTheStepInGroupFour) {
  const auto group_four = [](std::int64_t step) {
    return CheckpointIds([] { return kNow; }, seven).next(step).to_string().substr(19, 4);
  };
  EXPECT_EQ(group_four(-2), "bffe");
  EXPECT_EQ(group_four(-1), "bfff");
  EXPECT_EQ(group_four(0), "8000");
  EXPECT_EQ(group_four(7), "8007");
  EXPECT_EQ(group_four(16384), "8000");
}

TEST(CheckpointIds, SortAsTextWhateverTheStep) {
  CheckpointIds ids([] { return kNow; }, [] { return std::uint64_t{0}; });
  std::string last;
  for (std::int64_t step : {16383, 0, -1, -2, 5, 0}) {
    std::string id = ids.next(step).to_string();
    EXPECT_LT(last, id);
    last = id;
  }
}

TEST(CheckpointIds, DoNotRepeatAnIdMadeMeanwhile) {
  // The clock stands for another thread that gets in between.
  CheckpointIds* shared = nullptr;
  std::vector<Uuid> meanwhile;
  CheckpointIds ids(
      [&] {
        if (meanwhile.empty()) {
          meanwhile.emplace_back();
          meanwhile.back() = shared->next(0);
        }
        return kNow;
      },
      seven);
  shared = &ids;
  EXPECT_EQ(ids.next(0), uuid6(uuid_ticks(kNow) + 1, 7, 0));
  EXPECT_EQ(meanwhile, std::vector<Uuid>{uuid6(uuid_ticks(kNow), 7, 0)});
}

// What `threads` threads that run at the same time get, sorted. Each checks
// that its own ids increase.
std::vector<Uuid> make_in_threads(CheckpointIds& ids, std::ptrdiff_t threads, int count) {
  std::latch start(threads);
  std::mutex mutex;
  std::vector<Uuid> all;
  std::vector<std::jthread> running;
  for (std::ptrdiff_t t = 0; t < threads; ++t) {
    running.emplace_back([&] {
      std::vector<Uuid> mine;
      start.arrive_and_wait();
      for (int i = 0; i < count; ++i) mine.push_back(ids.next(0));
      EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
      const std::lock_guard lock(mutex);
      all.insert(all.end(), mine.begin(), mine.end());
    });
  }
  running.clear();
  std::sort(all.begin(), all.end());
  return all;
}

TEST(CheckpointIds, ThreadsNeverShareATick) {
  constexpr int kThreads = 4;
  constexpr int kCount = 20'000;
  CheckpointIds ids([] { return kNow; }, seven);
  const std::vector<Uuid> all = make_in_threads(ids, kThreads, kCount);
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_EQ(all.front(), uuid6_from(kNow, 7, 0));
  EXPECT_EQ(all.back(), uuid6(uuid_ticks(kNow) + kThreads * kCount - 1, 7, 0));
}

TEST(CheckpointIds, ThreadsStayInOrderWhileTheClockJumps) {
  std::atomic<int> calls{0};
  CheckpointIds ids([&] { return kNow + (calls++ % 3 - 1) * std::int64_t{1'000'000}; }, seven);
  const std::vector<Uuid> all = make_in_threads(ids, 4, 20'000);
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(CheckpointId, StrictlyIncreasesAndTellsTheTime) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const Uuid started = uuid6_from(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - std::chrono::seconds(1)).count(),
      0, 0);
  const Uuid later = uuid6_from(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now + std::chrono::hours(1)).count(), 0,
      0);
  std::string last = started.to_string();
  for (int i = 0; i < 10'000; ++i) {
    std::string id = checkpoint_id(i);
    ASSERT_LT(last, id);
    last = id;
  }
  EXPECT_LT(last, later.to_string());
}

TEST(CheckpointId, NodeBitsAreFreshEachTime) {
  std::set<std::string> nodes;
  for (int i = 0; i < 1'000; ++i) nodes.insert(checkpoint_id(0).substr(24));
  EXPECT_EQ(nodes.size(), 1'000u);
}

TEST(RandomBits, DifferBetweenThreads) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::jthread([&] { first = internal::random_bits(); }).join();
  std::jthread([&] { second = internal::random_bits(); }).join();
  EXPECT_NE(first, second);
}

TEST(RandomBits, DifferBetweenParentAndChildAfterAFork) {
  internal::random_bits();  // the child inherits a generator that is already seeded
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::uint64_t bits = internal::random_bits();
    _exit(write(ends[1], &bits, sizeof bits) == sizeof bits ? 0 : 1);
  }
  std::uint64_t child_bits = 0;
  EXPECT_EQ(read(ends[0], &child_bits, sizeof child_bits), ssize_t{sizeof child_bits});
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
  EXPECT_NE(internal::random_bits(), child_bits);
}

TEST(RandomUnit, StaysBelowOneAndSpreads) {
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double number = internal::random_unit();
    ASSERT_GE(number, 0.0);
    ASSERT_LT(number, 1.0);
    sum += number;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.05);
}

// ---- Channel versions

TEST(NextVersion, EqualsLangGraph) {
  EXPECT_EQ(next_version("", 0.5), "00000000000000000000000000000001.00000000000000.5");
  EXPECT_EQ(next_version("", 0.0), "00000000000000000000000000000001.00000000000000.0");
  EXPECT_EQ(next_version("3", 0.25), "00000000000000000000000000000004.0000000000000.25");
  EXPECT_EQ(next_version("00000000000000000000000000000009.0.9999999999999999", 0.9999999999999999),
            "00000000000000000000000000000010.0.9999999999999999");
  EXPECT_EQ(next_version("", 1e-05), "00000000000000000000000000000001.000000000001e-05");
  EXPECT_EQ(next_version("", 0.1 + 0.2), "00000000000000000000000000000001.0.30000000000000004");
  EXPECT_EQ(next_version("00000000000000000000000000000099.0.1", 0.7364738246237867),
            "00000000000000000000000000000100.0.7364738246237867");
  EXPECT_EQ(next_version("41", 0x1p-53), "00000000000000000000000000000042.1.1102230246251565e-16");
}

TEST(NextVersion, NeverReadsTheTail) {
  EXPECT_EQ(next_version("7.anything, \xFF.at all", 0.5).substr(0, 33),
            "00000000000000000000000000000008.");
  EXPECT_EQ(next_version("7.", 0.5).substr(0, 33), "00000000000000000000000000000008.");
}

TEST(NextVersion, CountsBeyondMachineWords) {
  EXPECT_EQ(next_version("18446744073709551615", 0.5).substr(0, 32),
            "00000000000018446744073709551616");
  EXPECT_EQ(next_version("00000000000000000000000000000000000000009.x", 0.5).substr(0, 32),
            "00000000000000000000000000000010");
}

TEST(NextVersion, RefusesWhatHasNoSuccessor) {
  for (const char* current :
       {".5", "abc", "-1", "+1", " 1", "1 ", "1_000", "0x10", "1e5",
        "99999999999999999999999999999999", "99999999999999999999999999999999.0.5",
        "100000000000000000000000000000000"}) {
    EXPECT_THROW(next_version(current, 0.5), ValueError) << current;
  }
}

TEST(NextVersion, RefusesARandomNumberOutsideItsRange) {
  for (double random : {1.0, -0.5, std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(next_version("1", random), ValueError) << random;
  }
}

TEST(NextVersion, GrowsAsTextAndDiffersBetweenForks) {
  std::string version;
  for (int i = 0; i < 1'000; ++i) {
    std::string next = next_version(version);
    EXPECT_LT(version, next);
    EXPECT_NE(next, next_version(version));
    version = next;
  }
  EXPECT_EQ(version.substr(0, 33), "00000000000000000000000000001000.");
}

TEST(NextIntegerVersion, CountsFromOne) {
  EXPECT_EQ(next_integer_version(0), 1);
  EXPECT_EQ(next_integer_version(41), 42);
  EXPECT_THROW(next_integer_version(std::numeric_limits<std::int64_t>::max()), ValueError);
  EXPECT_THROW(next_integer_version(-1), ValueError);
}

// ---- Task paths

TEST(TaskPath, StringEqualsLangGraph) {
  EXPECT_EQ(task_path_str(TaskPath()), "~");
  EXPECT_EQ(task_path_str(TaskPath::pull("node")), "~__pregel_pull, node");
  EXPECT_EQ(task_path_str(TaskPath::push(12)), "~__pregel_push, 0000000012, 0000000000");
  EXPECT_EQ(task_path_str(TaskPath::call(TaskPath::pull("entry"), 3)),
            "~__pregel_push, ~__pregel_pull, entry, 0000000003, 0000000001");
  EXPECT_EQ(task_path_str(TaskPath::call(TaskPath::call(TaskPath::pull("e"), 0), 1)),
            "~__pregel_push, ~__pregel_push, ~__pregel_pull, e, 0000000000, 0000000001, "
            "0000000001, 0000000001");
  EXPECT_EQ(task_path_str(TaskPath::update(11)), "~__interrupt__, 0000000011");
  EXPECT_EQ(task_path_str(TaskPath::of("__pregel_push", 1234567890123)),
            "~__pregel_push, 1234567890123");
  EXPECT_EQ(task_path_str(TaskPath::of("x", -1)), "~x, -000000001");
}

TEST(TaskPath, ErrorHandlerKeepsTheStartOfTheFailedPath) {
  EXPECT_EQ(task_path_str(TaskPath::error_handler(TaskPath::pull("n"))),
            "~__pregel_pull, n, node_error_handler, 0000000000");
  EXPECT_EQ(task_path_str(TaskPath::error_handler(TaskPath::call(TaskPath::pull("wf"), 2))),
            "~__pregel_push, ~__pregel_pull, wf, 0000000002, node_error_handler, 0000000000");
}

TEST(TaskPath, CopyOfAPathIsNotAPathInAPath) {
  const TaskPath path = TaskPath::pull("a");
  const TaskPath copy{path};
  EXPECT_EQ(copy, path);
  EXPECT_EQ(task_path_str(TaskPath::of(path)), "~~__pregel_pull, a");
  EXPECT_FALSE(TaskPath::of(path) == path);
}

TEST(TaskPath, ElementsKeepTheirKinds) {
  const TaskPath path = TaskPath::of("text", 5u, true, TaskPath());
  ASSERT_EQ(path.elements().size(), 4u);
  EXPECT_EQ(std::get<std::string>(path.elements()[0]), "text");
  EXPECT_EQ(std::get<std::int64_t>(path.elements()[1]), 5);
  EXPECT_EQ(std::get<bool>(path.elements()[2]), true);
  EXPECT_TRUE(std::get<TaskPath>(path.elements()[3]).elements().empty());
}

// ---- Task ids

TEST(TaskId, PullEqualsLangGraph) {
  const std::vector<std::string> trigger{"branch:to:node"};
  EXPECT_EQ(pull_task_id(origin(1), "node", trigger), "f5a43607-7ad2-e125-0213-942952f49252");
  EXPECT_EQ(pull_task_id(origin(1, kParentNs), "node", trigger),
            "64b7cc22-0357-cd08-bf6c-49967fb360e8");
  EXPECT_EQ(pull_task_id(origin(1, kParentNs, 1), "node", trigger),
            "29a6dd43-05d0-56c6-d777-a255909c453b");
  EXPECT_EQ(pull_task_id(origin(1, "", 2), "node", trigger),
            "f5a43607-7ad2-e125-0213-942952f49252");
  const std::vector<std::string> start{"__start__"};
  EXPECT_EQ(pull_task_id(origin(-1), "__start__", start), "ef81557d-e6b0-5f70-e24b-953ce2e65a5f");
  const std::vector<std::string> umlaut{
      "branch:to:n\xC3\xB6"
      "de"};
  EXPECT_EQ(pull_task_id(origin(1),
                         "n\xC3\xB6"
                         "de",
                         umlaut),
            "3048f273-0452-23fc-1f3e-ac16127a6e2d");
}

TEST(TaskId, PullSortsTheTriggers) {
  const std::vector<std::string> sorted{"branch:to:c", "join:a+b:c"};
  const std::vector<std::string> reversed{"join:a+b:c", "branch:to:c"};
  EXPECT_EQ(pull_task_id(origin(7), "c", sorted), "ab763d53-4333-620b-4a3d-c8babbe7854a");
  EXPECT_EQ(pull_task_id(origin(7), "c", reversed), "ab763d53-4333-620b-4a3d-c8babbe7854a");
}

TEST(TaskId, PushEqualsLangGraph) {
  EXPECT_EQ(push_task_id(origin(2), "worker", 0), "353ae8a5-bdff-4bc5-2b00-b2bf630c4abc");
  EXPECT_EQ(push_task_id(origin(2), "worker", 13), "a752e1bd-756c-cacd-525c-2ed9ee61dc6d");
  EXPECT_EQ(push_task_id(origin(2, kParentNs, 1), "worker", 13),
            "eab38af8-6d50-f4fe-799d-e0475789b36b");
}

TEST(TaskId, CallEqualsLangGraph) {
  const TaskPath workflow = TaskPath::pull("wf");
  EXPECT_EQ(call_task_id(origin(0), "my_task", workflow, 0),
            "31606d34-c4ce-1515-b808-8710a5132929");
  EXPECT_EQ(call_task_id(origin(0, kParentNs), "sub_task", TaskPath::call(workflow, 0), 2),
            "0d76bf3c-fefc-3587-a81a-14b0e2e2ea02");
}

TEST(TaskId, ErrorHandlerEqualsLangGraph) {
  EXPECT_EQ(error_handler_task_id(origin(3), "handler", "11111111-2222-3333-4444-555555555555"),
            "db3c3836-f02b-a8c5-8b4f-b255a1c2a2ce");
}

TEST(TaskCheckpointNs, JoinsParentNodeAndTask) {
  EXPECT_EQ(task_checkpoint_ns("", "node", kTask), "node:6ba7b810-9dad-11d1-80b4-00c04fd430c8");
  EXPECT_EQ(task_checkpoint_ns("a:1|b:2", "node", "3"), "a:1|b:2|node:3");
}

TEST(UpdateTaskId, EqualsLangGraph) {
  const Uuid checkpoint = Uuid::parse(kCheckpoint);
  EXPECT_EQ(update_task_id(checkpoint, 0), "7ec02035-2be8-5bc7-84a2-4181df242df5");
  EXPECT_EQ(update_task_id(checkpoint, 1), "c64bd812-eed8-5ec3-a2ac-a7dbe12be2db");
  EXPECT_EQ(input_writes_id(checkpoint), "4e071109-2c36-539d-b060-078d7ab19805");
}

TEST(ExitDelta, IdsEqualLangGraph) {
  EXPECT_EQ(exit_delta_task_id(7, kTask), "00000007-9dad-11d1-80b4-00c04fd430c8");
  EXPECT_EQ(exit_delta_task_id(-1, kTask), "-0000001-9dad-11d1-80b4-00c04fd430c8");
  EXPECT_EQ(exit_delta_task_id(0, kNullTaskId), "00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(exit_delta_task_id(3, kNullTaskId), "00000003-0000-0000-0000-000000000000");
  EXPECT_EQ(exit_delta_late_task_id(70000, kTask), "ffffffff-0001-1170-80b4-00c04fd430c8");
  EXPECT_EQ(exit_delta_late_task_id(12345678, kTask), "ffffffff-00bc-614e-80b4-00c04fd430c8");
  EXPECT_EQ(exit_delta_late_task_path(12, "~__pregel_pull, a"), "~~0000000012~__pregel_pull, a");
}

TEST(ExitDelta, RefusesWhatItCannotRewrite) {
  EXPECT_THROW(exit_delta_late_task_id(-1, kTask), ValueError);
  EXPECT_THROW(exit_delta_task_id(1, "short"), ValueError);
  EXPECT_THROW(exit_delta_late_task_id(1, ""), ValueError);
}

// ---- Interrupt ids

TEST(InterruptId, EqualsLangGraph) {
  const std::string ns = task_checkpoint_ns("", "node", kTask);
  EXPECT_EQ(interrupt_id(ns, 0), "c80505874db478cb4a32024e372cdfaf");
  EXPECT_EQ(interrupt_id(ns, 1), "09db7cd239edfdb44d3b1ad8ffaf1845");
  EXPECT_EQ(interrupt_id(ns, 10), "59481e41d9b211d1675c8ecce2c45c50");
}

TEST(InterruptId, LegacyJoinsTheNamespace) {
  EXPECT_EQ(legacy_interrupt_id(std::vector<std::string>{"node:1"}),
            "bd00ab1d89bcbb85b2b33c0e6efdaeb0");
  EXPECT_EQ(legacy_interrupt_id(std::vector<std::string>{"a:1", "b:2"}),
            "b06ccd9b4b8986a385da3d11c559d345");
}

TEST(InterruptId, IsRecognised) {
  EXPECT_TRUE(is_interrupt_id("c80505874db478cb4a32024e372cdfaf"));
  EXPECT_FALSE(is_interrupt_id("C80505874db478cb4a32024e372cdfaf"));
  EXPECT_FALSE(is_interrupt_id("c80505874db478cb4a32024e372cdfa"));
  EXPECT_FALSE(is_interrupt_id("c80505874db478cb4a32024e372cdfafa"));
  EXPECT_FALSE(is_interrupt_id("g80505874db478cb4a32024e372cdfaf"));
  EXPECT_FALSE(is_interrupt_id(""));
}

// ---- Hash

TEST(Xxh3, IsCanonicalForEachLengthClass) {
  EXPECT_EQ(xxh3_128_hex(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(xxh3_128_hex("\x07"), "495b62073ef70ca44c5cca45d0f4811f");
  EXPECT_EQ(xxh3_128_hex("h\xC3\xA9"), "46ff18d0666567cbf931d3901b110895");

  const std::pair<std::size_t, const char*> expected[] = {
      {16, "7f9a218b0425449ae2ce54a7c19c730d"},   {17, "66fc23f6439dbd778d96ef110fcdebb4"},
      {128, "aec730751478556cff361dec1385710a"},  {129, "98cd36ccbb5579264545b3a09738e31a"},
      {240, "5293e17bf553903d3f2c53e72293711f"},  {241, "b53840fe3fedf161956cae592c67279e"},
      {1024, "f69630613f24324d70bd377d9574f4bb"}, {4096, "3e0ff38fa88a55ea9ddd66c14af0daff"},
  };
  for (const auto& [size, hex] : expected) {
    std::string input;
    for (std::size_t i = 0; i < size; ++i) input += static_cast<char>((i * 131 + 7) & 0xFF);
    EXPECT_EQ(xxh3_128_hex(input), hex) << size;
  }
}

}  // namespace
}  // namespace clew
