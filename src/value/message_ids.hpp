// The ids of messages: reading them quickly, and new ones for messages without.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include <clew/value.hpp>

namespace clew::detail {
struct ExtensionType;
struct Shape;
}  // namespace clew::detail

namespace clew::internal {

// The id of a message as stored; null if it has none. `message` must be one.
const Value& id_of(const Value& message);

// A random UUID.
std::string new_message_id();
// The message with a new id.
Value with_new_id(const Value& message);

// Whether `message` is a part of a streamed one.
bool is_chunk(const Value& message);

// Reads the ids of one message after the other. Messages of a class share the
// nodes that say where the id is, so that is looked up once per class and not
// for each message.
class MessageIdReader {
 public:
  // The id of a whole message that has one; nullptr for any other value.
  const Value* read(const Value& value);

 private:
  struct Known {
    const detail::ExtensionType* type = nullptr;
    const detail::Shape* shape = nullptr;
    std::size_t position = 0;
  };

  std::array<Known, 8> known_;
};

}  // namespace clew::internal
