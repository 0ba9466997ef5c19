#include "vectors.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <clew/json.hpp>

namespace clew::interop {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

int digit_value(char c) {
  if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  const std::size_t value = kDigits.find(c);
  if (value == std::string_view::npos) {
    throw ValueError(std::string("expected a hexadecimal digit, found '") + c + "'");
  }
  return static_cast<int>(value);
}

void run_cases(const Section& section, const Value& cases, Report& report) {
  std::size_t index = 0;
  for (const Value& recorded : cases) {
    const std::string place = std::string(section.name) + path_step(index++);
    const Value& name = recorded["name"];
    // Tasks have names too, but many have the same.
    const bool is_named = section.name == "cases" || section.name == "must_fail";
    report.run(is_named && name.is_string() ? name.as_string() : place,
               [&] { section.check(recorded); });
  }
}

}  // namespace

Value read_vectors(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw Error("cannot read " + file.string());
  Value vectors;
  try {
    vectors = parse_lenient_json(text);
  } catch (const SerdeError& error) {
    throw Error(file.string() + ": " + error.what());
  }
  if (!vectors.is_object() || !vectors["format"].is_string()) {
    throw Error(file.string() + " is no vector file: expected an object with a \"format\"");
  }
  return vectors;
}

Value parse_lenient_json(std::string_view text) {
  return parse_json(
      text,
      {.max_depth = 3000, .allow_non_finite = true, .lone_surrogates = LoneSurrogates::replace});
}

std::string from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) throw ValueError("expected an even number of hexadecimal digits");
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(digit_value(hex[i]) << 4 | digit_value(hex[i + 1]));
  }
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 0xF];
  }
  return hex;
}

void run_sections(const Value& vectors, std::span<const Section> known, Report& report) {
  for (const auto& [name, content] : vectors.items()) {
    const bool has_cases = content.is_list() || content.is_object();
    if (!has_cases || name == "versions") continue;
    const auto section = std::find_if(known.begin(), known.end(),
                                      [&](const Section& other) { return other.name == name; });
    if (section == known.end()) {
      report.run(name, [] { throw Mismatch("this tool does not know the section"); });
    } else if (content.is_list()) {
      run_cases(*section, content, report);
    } else {
      report.run(name, [&] { section->check(content); });
    }
  }
}

}  // namespace clew::interop
