// The four kinds of vector files, and what they have in common.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <clew/value.hpp>

#include "report.hpp"

namespace clew::interop {

// A vector file as JSON. Throws Error that says what is wrong with it.
Value read_vectors(const std::filesystem::path& file);

// JSON as Python and JavaScript write it: also NaN, infinities and halves of characters.
Value parse_lenient_json(std::string_view text);

// Throw ValueError if `hex` is not pairs of hexadecimal digits.
std::string from_hex(std::string_view hex);
std::string to_hex(std::string_view bytes);

// Each runs every case of a file.
void run_serde(const Value& vectors, Report& report);
void run_ids(const Value& vectors, Report& report);
void run_encrypted(const Value& vectors, Report& report);
void run_js(const Value& vectors, Report& report);

// A part of a vector file: a list of cases, or one case.
struct Section {
  std::string_view name;
  void (*check)(const Value& recorded);
};

// Runs the cases of every section of the file, except remarks about it. A
// section that is not among the `known` ones is a failed case.
void run_sections(const Value& vectors, std::span<const Section> known, Report& report);

}  // namespace clew::interop
