#include "server/http_message.hpp"

#include <algorithm>

#include <clew/json.hpp>

#include "server/http_text.hpp"

namespace clew::server {

const std::string* Parameters::find(std::string_view name) const {
  for (const auto& [key, value] : entries_) {
    if (key == name) return &value;
  }
  return nullptr;
}

const std::string& Parameters::at(std::string_view name) const {
  const std::string* value = find(name);
  if (value == nullptr) throw HttpError(422, "Missing parameter '" + std::string(name) + "'");
  return *value;
}

std::string Parameters::get(std::string_view name, std::string_view otherwise) const {
  const std::string* value = find(name);
  return value != nullptr ? *value : std::string(otherwise);
}

std::vector<std::string> Parameters::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : entries_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

const std::string* Headers::find(std::string_view name) const {
  for (const auto& [key, value] : entries_) {
    if (equals_ignoring_case(key, name)) return &value;
  }
  return nullptr;
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      entries_.begin(), entries_.end(),
      [name](const NamedText& entry) { return equals_ignoring_case(entry.first, name); }));
}

bool Headers::has_token(std::string_view name, std::string_view token) const {
  for (const auto& [key, value] : entries_) {
    if (equals_ignoring_case(key, name) && list_has_token(value, token)) return true;
  }
  return false;
}

Response json_response(const Value& value, int status) {
  return text_response(to_json(value), "application/json", status);
}

Response empty_response(int status) {
  Response response;
  response.status = status;
  return response;
}

Response text_response(std::string text, std::string content_type, int status) {
  Response response;
  response.status = status;
  response.headers.emplace_back("content-type", std::move(content_type));
  response.body = std::move(text);
  return response;
}

Response error_response(int status, std::string_view detail) {
  return json_response(Value{{"detail", detail}}, status);
}

Response HttpError::response() const {
  Response response = error_response(status(), detail());
  response.headers.insert(response.headers.end(), headers_.begin(), headers_.end());
  return response;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

}  // namespace clew::server
