// Counts the cases of a vector file and says why a case failed.
//
//   Report report(std::cout);
//   report.run("int_1", [&] { expect_equal("bytes", expected, got); });
//   report.finish();      // "1 passed, 0 failed"
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <clew/error.hpp>
#include <clew/value.hpp>

namespace clew::interop {

// A case that did not come out as recorded. Not a clew::Error, so that no code
// under test can throw or swallow one.
class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Report {
 public:
  explicit Report(std::ostream& out) : out_(out) {}

  // Runs one case. It passes if `check` returns; any exception is its failure.
  void run(std::string_view name, const std::function<void()>& check);

  // Prints the closing line. True if there was a case and none failed.
  bool finish();

 private:
  std::ostream& out_;
  std::size_t passed_ = 0;
  std::size_t failed_ = 0;
};

// Each throws Mismatch; long texts are cut to the part where they differ.
void expect_equal(std::string_view what, std::string_view expected, std::string_view got);
void expect_true(std::string_view what, bool holds);

// Equal JSON with entries in the same order. Inside {"$json": ...}, the text of
// another program, 1 and 1.0 are the same number.
void expect_same_json(std::string_view what, const Value& expected, const Value& got);

// `action` must throw an ExpectedError.
template <class ExpectedError>
void expect_refused(std::string_view what, const std::function<void()>& action) {
  try {
    action();
  } catch (const ExpectedError&) {
    return;
  }
  throw Mismatch(std::string(what) + ": expected an error, got none");
}

}  // namespace clew::interop
