// Doubles as Python's repr writes them: the shortest text that reads back to
// the same double. JSON, canonical output and version strings share it, since
// their bytes must equal Python's.
#pragma once

#include <cstddef>

namespace clew::internal {

// The longest text, "-1.7976931348623157e+308".
inline constexpr std::size_t kFloatTextSize = 24;

// Writes `value` to `out`, which has room for kFloatTextSize bytes, and returns
// how many were written (no terminator): "1.0", "-0.0", "1e-05", "1e+16",
// "inf", "-inf", "nan".
std::size_t write_float(double value, char* out);

}  // namespace clew::internal
