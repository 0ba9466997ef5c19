// Command lines of the programs that run random tests.
#pragma once

#include <charconv>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <clew/error.hpp>

namespace clew::tests {

class UsageError : public Error {
 public:
  using Error::Error;
};

inline std::uint64_t parse_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw UsageError("'" + text + "' is not a number");
  }
  return number;
}

// What main() returns: the result of `run`, or 2 after saying how it is used.
template <class Run>
int run_program(int argc, char** argv, std::string_view usage, const Run& run) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const UsageError& error) {
    std::cerr << error.what() << '\n' << usage;
    return 2;
  }
}

}  // namespace clew::tests
