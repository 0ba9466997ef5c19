// Reads arbitrary bytes as JSON. What is refused must be refused by SerdeError
// with an offset inside the text; what is accepted must survive being written
// and read again, in every layout.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>

#include <clew/json.hpp>

namespace {

using namespace clew;

constexpr JsonParseOptions kStrict;
constexpr JsonParseOptions kAsPython{.allow_non_finite = true,
                                     .lone_surrogates = LoneSurrogates::replace};

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

std::optional<Value> read(std::string_view text, const JsonParseOptions& options) {
  try {
    return parse_json(text, options);
  } catch (const SerdeError& error) {
    require(error.offset().has_value() && *error.offset() <= text.size(), "offset inside the text");
    require(!error.reason().empty(), "a reason is given");
    return std::nullopt;
  }
}

void require_round_trip(const Value& value, JsonWriteOptions options) {
  options.non_finite = NonFinite::literal;
  const std::string text = to_json(value, options);
  const std::optional<Value> again = read(text, kAsPython);
  require(again.has_value(), "what was written can be read");
  require(*again == value, "what was written reads as the same value");
  require(options.sort_keys || to_json(*again, options) == text, "and writes as the same text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<Value> strict = read(text, kStrict);
  const std::optional<Value> relaxed = read(text, kAsPython);
  require(!strict || (relaxed && *strict == *relaxed), "strict JSON reads the same either way");
  if (!relaxed) return 0;

  require_round_trip(*relaxed, {});
  require_round_trip(*relaxed, {.spaced = true, .ascii_only = true});
  require_round_trip(*relaxed, {.indent = 1, .sort_keys = true});
  std::ostringstream shown;
  shown << *relaxed;
  require(shown.str() == to_json(*relaxed, {.non_finite = NonFinite::literal}), "shown as written");
  return 0;
}
