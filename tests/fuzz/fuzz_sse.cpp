// Writes arbitrary names, ids and data as a server-sent event. Whatever they
// hold, a reader sees one event with one data line, and nothing after its end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <clew/error.hpp>
#include <clew/json.hpp>

#include "server/http_sse.hpp"

namespace {

using namespace clew;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// As the standard reads them: CRLF, CR and LF all end a line.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' && text[i] != '\n') {
      lines.back() += text[i];
      continue;
    }
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
    lines.emplace_back();
  }
  return lines;
}

void check_frame(const std::string& out, bool has_id) {
  const std::vector<std::string> lines = lines_of(out);
  require(lines.size() == (has_id ? 5U : 4U), "an event is its lines and an empty one");
  require(lines[0].starts_with("event: "), "the name comes first");
  require(lines[1].starts_with("data: "), "the data comes second");
  require(!has_id || lines[2].starts_with("id: "), "the id comes third");
  require(lines[lines.size() - 2].empty() && lines.back().empty(), "an empty line ends it");
  require(out.find('\0') == std::string::npos, "no NUL");
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('|'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view event = take_line(rest);
  const std::string_view id = take_line(rest);

  std::string as_text;
  server::append_event(as_text, event, rest, id);
  check_frame(as_text, !id.empty());

  std::string as_value;
  try {
    server::append_event(as_value, {.event = event, .data = Value(rest), .id = id});
  } catch (const SerdeError&) {
    require(as_value.empty(), "what is refused leaves nothing behind");
    return 0;
  }
  check_frame(as_value, !id.empty());
  const std::string json = lines_of(as_value)[1].substr(6);
  require(parse_json(json) == Value(rest), "the data reads as it was");
  return 0;
}
