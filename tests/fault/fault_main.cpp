// clew-fault puts the SQLite saver to tests that need processes of their own.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "arguments.hpp"
#include "disk.hpp"

namespace clew::fault {

using tests::UsageError;
namespace {

constexpr std::string_view kUsage =
    "usage: clew-fault disk [SHAPE]   every operation of a run fails, in every way\n";

// What is synced is known without a real device, so files may lie in memory.
void keep_files_in_memory() {
  if (std::filesystem::is_directory("/dev/shm")) ::setenv("TMPDIR", "/dev/shm", 0);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw UsageError("which test?");
  try {
    if (arguments[0] == "disk") {
      keep_files_in_memory();
      test_faulty_disk(arguments.size() > 1 ? Value(arguments[1]).get<Shape>() : Shape::chain);
    } else {
      throw UsageError("unknown test '" + arguments[0] + "'");
    }
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
