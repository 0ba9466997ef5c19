// LangChain's message classes by name, for code that makes messages from fields
// rather than from a struct.
#pragma once

#include <string_view>

#include <clew/messages.hpp>

namespace clew::internal {

struct MessageClassInfo {
  MessageClass message_class;
  std::string_view module;
  std::string_view name;
  std::string_view type;  // what the field `type` says
  // What Python's constructor makes of keyword arguments: all fields in
  // LangChain's order, defaults filled in. Throws ValueError.
  Value (*construct)(const Value& arguments);
};

const MessageClassInfo& message_class_info(MessageClass message_class);
// By name, such as "HumanMessage"; nullptr if there is none.
const MessageClassInfo* find_message_class(std::string_view name);

}  // namespace clew::internal
