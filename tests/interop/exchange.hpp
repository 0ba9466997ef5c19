// Values to and from another implementation, one JSON object per line.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string_view>

namespace clew::interop {

// For each line {"tag", "hex"} of `in`: {"canonical", "tag", "hex"} of the value
// as Clew loaded and stored it again, or {"error"}. A `key` that is not empty
// encrypts and decrypts.
void convert_lines(std::istream& in, std::ostream& out, std::string_view key);

// The same lines of `count` random values; the same ones for the same seed.
void print_random(std::ostream& out, std::uint64_t seed, std::uint64_t count, std::string_view key);

}  // namespace clew::interop
