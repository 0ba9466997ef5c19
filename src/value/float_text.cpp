#include "value/float_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace clew::internal {
namespace {

// Python switches to an exponent below 1e-4 and from 1e16 on.
constexpr int kFirstFixedExponent = -4;
constexpr int kFirstLargeExponent = 16;

// Every integer below 2^53 is a double of its own, so its digits are also the
// shortest text that reads back. 1e15 keeps clear of that edge.
constexpr double kExactIntegers = 1e15;

// The digits of a positive number and the power of ten of the first.
struct Decimal {
  char digits[17];
  int count;
  int exponent;
};

// `text` is what to_chars writes in scientific form: "d.ddde-XX" or "de-XX".
Decimal split_scientific(const char* text, const char* end) {
  Decimal decimal;
  decimal.digits[0] = *text++;
  decimal.count = 1;
  if (*text == '.') ++text;
  while (*text != 'e') decimal.digits[decimal.count++] = *text++;
  ++text;
  if (*text == '+') ++text;
  std::from_chars(text, end, decimal.exponent);
  return decimal;
}

char* copy(char* out, const char* from, int count) {
  std::memcpy(out, from, static_cast<std::size_t>(count));
  return out + count;
}

char* zeros(char* out, int count) {
  std::memset(out, '0', static_cast<std::size_t>(count));
  return out + count;
}

char* write_fixed(const Decimal& decimal, char* out) {
  const int whole = decimal.exponent + 1;
  if (whole <= 0) {
    *out++ = '0';
    *out++ = '.';
    out = zeros(out, -whole);
    return copy(out, decimal.digits, decimal.count);
  }
  if (decimal.count <= whole) {
    out = copy(out, decimal.digits, decimal.count);
    out = zeros(out, whole - decimal.count);
    *out++ = '.';
    *out++ = '0';
    return out;
  }
  out = copy(out, decimal.digits, whole);
  *out++ = '.';
  return copy(out, decimal.digits + whole, decimal.count - whole);
}

char* write_positive(double value, char* out) {
  if (value < kExactIntegers) {
    const auto integer = static_cast<std::int64_t>(value);
    if (static_cast<double>(integer) == value) {
      out = std::to_chars(out, out + kFloatTextSize, integer).ptr;
      *out++ = '.';
      *out++ = '0';
      return out;
    }
  }
  char text[kFloatTextSize];
  char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const Decimal decimal = split_scientific(text, end);
  if (decimal.exponent < kFirstFixedExponent || decimal.exponent >= kFirstLargeExponent) {
    return copy(out, text, static_cast<int>(end - text));
  }
  return write_fixed(decimal, out);
}

}  // namespace

std::size_t write_float(double value, char* out) {
  char* end = out;
  if (std::isnan(value)) {
    end = copy(end, "nan", 3);
  } else {
    if (std::signbit(value)) {
      *end++ = '-';
      value = -value;
    }
    end = std::isinf(value) ? copy(end, "inf", 3) : write_positive(value, end);
  }
  return static_cast<std::size_t>(end - out);
}

}  // namespace clew::internal
