// Server-sent events.
//
//   append_event(out, {.event = "values", .data = state});
//
//   event: values
//   data: {"foo":"a"}
//
// Lines end in CRLF and an event in an empty line. Nothing that a name, an id or
// a value contains can end a line early.
#pragma once

#include <string>
#include <string_view>

#include <clew/value.hpp>

namespace clew::server {

inline constexpr std::string_view kEventStreamType = "text/event-stream; charset=utf-8";
inline constexpr std::string_view kHeartbeatComment = ": heartbeat\r\n\r\n";

struct ServerSentEvent {
  std::string_view event{};  // line breaks and NUL are left out
  Value data{};              // written as JSON on one line
  std::string_view id{};     // empty: no id line; line breaks and NUL are left out
};

// Throws SerdeError if the data has no JSON form.
void append_event(std::string& out, const ServerSentEvent& event);

// As above for data that is already JSON text; line breaks in it become spaces,
// which JSON allows wherever it allows a line break.
void append_event(std::string& out, std::string_view event, std::string_view json,
                  std::string_view id = {});

}  // namespace clew::server
