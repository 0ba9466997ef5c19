// Reads arbitrary bytes as exported threads. What is refused must be refused by an
// Error; what is accepted reads the same when it is exported again.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include <clew/errors.hpp>

#include "cli/export_format.hpp"

namespace {

using namespace clew;
using namespace clew::cli;

// The threads that can be read before the first mistake, exported.
std::string exported_again(const std::string& text, bool& is_whole) {
  std::ostringstream out;
  ExportWriter writer(out);
  std::istringstream in(text);
  is_whole = false;
  try {
    ExportReader reader(in, "fuzzed");
    while (auto thread = reader.next()) {
      writer.write(thread->thread_id, std::move(thread->checkpoints));
    }
    is_whole = true;
  } catch (const Error&) {
    // Refused from here on.
  }
  return out.str();
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bool is_whole = false;
  const std::string once =
      exported_again(std::string(reinterpret_cast<const char*>(data), size), is_whole);
  const std::string twice = exported_again(once, is_whole);
  require(is_whole, "what was exported can be read");
  require(once == twice, "it reads the same when it is exported again");
  return 0;
}
