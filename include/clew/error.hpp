// The errors Clew throws. Everything derives from clew::Error, so one catch is
// enough; the derived kinds say who can do something about it.
//
//   try {
//     State state = value.get<State>();
//   } catch (const clew::ValueError& error) {
//     log(error.path(), error.reason());   // "$.messages[3].id", "expected string, found int"
//   }
//
// An error is a plain value: copy it, keep it, read it from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace clew {

// The base of every exception that Clew throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A step of a path: ".name", or ["odd key"] when the key is not an identifier.
inline std::string path_step(std::string_view key) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  bool identifier = !key.empty() && is_letter(key.front());
  for (char c : key) identifier = identifier && (is_letter(c) || (c >= '0' && c <= '9'));
  if (identifier) return "." + std::string(key);

  std::string step = "[\"";
  for (char c : key) {
    if (c == '"' || c == '\\') step += '\\';
    step += c;
  }
  return step + "\"]";
}

// A step of a path into a list: "[3]".
inline std::string path_step(std::size_t index) { return "[" + std::to_string(index) + "]"; }

// A value is missing, has the wrong type, or is out of range. what() is
// "<path>: <reason>", or just the reason while no path is known.
//
// Code that walks into a value does not carry a path along. It adds its own
// step while the error passes through:
//
//   } catch (ValueError& error) {
//     error.prepend(path_step(name));   // "$.id" becomes "$.messages.id"
//     throw;
//   }
class ValueError : public Error {
 public:
  explicit ValueError(const std::string& reason) : Error(reason), reason_(reason) {}

  // `path` starts with "$", the value the caller asked about.
  ValueError(std::string path, std::string reason)
      : Error(path + ": " + reason), path_(std::move(path)), reason_(std::move(reason)) {}

  // Where in the value, such as "$.messages[3].id". Empty if the error is not
  // about a place inside a value.
  const std::string& path() const noexcept { return path_; }

  const std::string& reason() const noexcept { return reason_; }

  // Puts `step`, as path_step() makes it, at the front of the path.
  void prepend(std::string_view step) {
    std::string path = "$" + std::string(step);
    if (!path_.empty()) path.append(path_, 1);
    *this = ValueError(std::move(path), std::move(reason_));
  }

 private:
  std::string path_;
  std::string reason_;
};

// Bytes that cannot be read, or a value that cannot be written.
class SerdeError : public Error {
 public:
  explicit SerdeError(const std::string& message) : Error(message), reason_(message) {}

  // what() reads "msgpack at byte 12: <reason>".
  SerdeError(const std::string& format, std::size_t offset, std::string reason)
      : Error(format + " at byte " + std::to_string(offset) + ": " + reason),
        reason_(std::move(reason)),
        offset_(offset) {}

  // Where in the input, if the error is about a place in it.
  std::optional<std::size_t> offset() const noexcept { return offset_; }

  const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
  std::optional<std::size_t> offset_;
};

// A key that cannot be used, or data that a key does not open. It is a
// SerdeError so that whoever loads stored bytes catches one kind.
class CryptoError : public SerdeError {
 public:
  using SerdeError::SerdeError;
};

}  // namespace clew
