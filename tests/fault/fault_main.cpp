// clew-fault puts the SQLite saver to tests that need processes of their own.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "arguments.hpp"
#include "contention.hpp"
#include "disk.hpp"
#include "handoff.hpp"

namespace clew::fault {

using tests::UsageError;
namespace {

constexpr std::string_view kUsage =
    "usage: clew-fault disk [SHAPE [STRIDE]]       every operation of a run fails, in every way,\n"
    "                                              or in every STRIDE-th\n"
    "       clew-fault contention [CALLS [FILES]]  two processes call on one thread per file\n"
    "       clew-fault handoff start FILE SINK     for kill_between_engines.py\n"
    "       clew-fault handoff finish FILE SINK\n";

constexpr std::size_t kDefaultCalls = 1000;
// Both processes begin with a new file so often, to collide in making it too.
constexpr std::size_t kDefaultFiles = 20;

// What is synced is known without a real device, so files may lie in memory.
void keep_files_in_memory() {
  if (std::filesystem::is_directory("/dev/shm")) ::setenv("TMPDIR", "/dev/shm", 0);
}

// The number at this place, at least 1, if it is given.
std::size_t number_at(const std::vector<std::string>& arguments, std::size_t place,
                      std::size_t otherwise) {
  if (place >= arguments.size()) return otherwise;
  const std::size_t number = tests::parse_number(arguments[place]);
  if (number == 0) throw UsageError("0 is too few");
  return number;
}

void run_contention(std::size_t calls, std::size_t files) {
  if (files > calls) throw UsageError("there are fewer calls than files");
  test_contention(SqliteLayout::native, calls, files);
  test_contention(SqliteLayout::langgraph, calls, files);
}

void run_handoff(const std::vector<std::string>& arguments) {
  if (arguments.size() != 4) throw UsageError("handoff takes a part, a file and a sink");
  if (arguments[1] == "start") return start_handoff(arguments[2], arguments[3]);
  if (arguments[1] == "finish") return finish_handoff(arguments[2], arguments[3]);
  throw UsageError("unknown part '" + arguments[1] + "'");
}

void run_test(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw UsageError("which test?");
  const std::string& name = arguments[0];
  if (name == "handoff") return run_handoff(arguments);
  keep_files_in_memory();
  if (name == "disk") {
    const Shape shape = arguments.size() > 1 ? Value(arguments[1]).get<Shape>() : Shape::chain;
    test_faulty_disk(shape, number_at(arguments, 2, 1));
  } else if (name == "contention") {
    run_contention(number_at(arguments, 1, kDefaultCalls), number_at(arguments, 2, kDefaultFiles));
  } else {
    throw UsageError("unknown test '" + name + "'");
  }
}

int run(const std::vector<std::string>& arguments) {
  try {
    run_test(arguments);
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    std::cout << "FAILED: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace clew::fault

int main(int argc, char** argv) {
  return clew::tests::run_program(argc, argv, clew::fault::kUsage, clew::fault::run);
}
