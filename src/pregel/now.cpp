#include "pregel/now.hpp"

#include <chrono>

#include <clew/time.hpp>

namespace clew::pregel {

using std::chrono::microseconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

std::string now_text() {
  const auto now = std::chrono::floor<microseconds>(std::chrono::system_clock::now());
  const sys_seconds second = std::chrono::floor<seconds>(now);
  std::int64_t fraction = (now - second).count();
  if (fraction == 0) return format_time(now);
  // Within a second only the fraction differs; the rest is kept.
  thread_local sys_seconds known_second;
  thread_local std::string known_text;
  if (known_text.empty() || known_second != second) {
    known_text = format_time(second + microseconds(1));
    known_second = second;
  }
  constexpr std::size_t kFractionEnd = std::string_view("2024-05-06T07:08:09.123456").size();
  std::string text = known_text;
  text[kFractionEnd - 1] = '0';
  for (std::size_t i = kFractionEnd - 1; fraction != 0; --i, fraction /= 10) {
    text[i] = static_cast<char>('0' + fraction % 10);
  }
  return text;
}

}  // namespace clew::pregel
