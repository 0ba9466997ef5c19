#include "server/http_sse.hpp"

#include <algorithm>

#include <clew/json.hpp>

namespace clew::server {
namespace {

bool breaks_line(char c) { return c == '\r' || c == '\n' || c == '\0'; }

void append_field(std::string& out, std::string_view name, std::string_view text) {
  out += name;
  out += ": ";
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return !breaks_line(c); });
  out += "\r\n";
}

void append_data(std::string& out, std::string_view json) {
  out += "data: ";
  const std::size_t begin = out.size();
  out += json;
  std::replace_if(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), breaks_line, ' ');
  out += "\r\n";
}

}  // namespace

void append_event(std::string& out, const ServerSentEvent& event) {
  append_event(out, event.event, to_json(event.data), event.id);
}

void append_event(std::string& out, std::string_view event, std::string_view json,
                  std::string_view id) {
  append_field(out, "event", event);
  append_data(out, json);
  if (!id.empty()) append_field(out, "id", id);
  out += "\r\n";
}

}  // namespace clew::server
