#include "report.hpp"

#include <algorithm>

#include <clew/json.hpp>

namespace clew::interop {
namespace {

constexpr std::size_t kShownBefore = 60;
constexpr std::size_t kShown = 300;

// A failure is one line, whatever the texts in it.
std::string one_line(std::string_view text) {
  std::string line;
  for (char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else {
      line += c;
    }
  }
  return line;
}

std::string excerpt(std::string_view text, std::size_t difference) {
  const std::size_t begin = difference > kShownBefore ? difference - kShownBefore : 0;
  std::string shown = begin > 0 ? "..." : "";
  shown += text.substr(begin, kShown);
  if (text.size() > begin + kShown) shown += "...";
  return shown;
}

[[noreturn]] void fail(std::string_view what, std::string_view expected, std::string_view got) {
  const auto difference = static_cast<std::size_t>(
      std::mismatch(expected.begin(), expected.end(), got.begin(), got.end()).first -
      expected.begin());
  std::string message(what);
  message += ": expected ";
  message += excerpt(expected, difference);
  message += ", got ";
  message += excerpt(got, difference);
  throw Mismatch(message);
}

std::string json_text(const Value& json) {
  return to_json(json, {.non_finite = NonFinite::literal, .max_depth = 3000});
}

bool is_number(const Value& value) {
  return value.is_int() || value.is_double() || value.kind() == Kind::big_integer;
}

double number(const Value& value) {
  return value.kind() == Kind::big_integer ? std::stod(value.integer_text()) : value.as_double();
}

bool same_json(const Value& a, const Value& b, bool numbers_by_value);

bool same_elements(const Value& a, const Value& b, bool numbers_by_value) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Value& x, const Value& y) {
    return same_json(x, y, numbers_by_value);
  });
}

bool same_entries(const Value& a, const Value& b, bool numbers_by_value) {
  if (a.size() != b.size()) return false;
  const ValueItems entries = a.items();
  const ValueItems others = b.items();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto [key, value] = entries[i];
    if (key != others[i].key) return false;
    if (!same_json(value, others[i].value, numbers_by_value || key == "$json")) return false;
  }
  return true;
}

bool same_json(const Value& a, const Value& b, bool numbers_by_value) {
  if (a.is_list() && b.is_list()) return same_elements(a, b, numbers_by_value);
  if (a.is_object() && b.is_object()) return same_entries(a, b, numbers_by_value);
  if (a == b) return true;
  return numbers_by_value && is_number(a) && is_number(b) && a.kind() != b.kind() &&
         number(a) == number(b);
}

}  // namespace

void Report::run(std::string_view name, const std::function<void()>& check) {
  try {
    check();
    ++passed_;
  } catch (const std::exception& error) {
    ++failed_;
    out_ << "FAIL " << name << ": " << one_line(error.what()) << '\n';
  }
}

bool Report::finish() {
  out_ << passed_ << " passed, " << failed_ << " failed" << std::endl;
  return passed_ > 0 && failed_ == 0;
}

void expect_equal(std::string_view what, std::string_view expected, std::string_view got) {
  if (expected != got) fail(what, expected, got);
}

void expect_true(std::string_view what, bool holds) {
  if (!holds) throw Mismatch(std::string(what) + ": expected true, got false");
}

void expect_same_json(std::string_view what, const Value& expected, const Value& got) {
  if (!same_json(expected, got, false)) fail(what, json_text(expected), json_text(got));
}

}  // namespace clew::interop
