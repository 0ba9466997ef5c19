#include "value/message_ids.hpp"

#include <clew/extension.hpp>
#include <clew/messages.hpp>
#include <clew/uuid.hpp>

#include "value/object.hpp"

namespace clew::internal {

std::string new_message_id() { return uuid4().to_string(); }

const Value& id_of(const Value& message) { return message.as_extension().payload["id"]; }

Value with_new_id(const Value& message) {
  const Extension extension = message.as_extension();
  return make_extension(extension.code, extension.module, extension.name,
                        extension.payload.set("id", new_message_id()), extension.method);
}

bool is_chunk(const Value& message) { return message.as_extension().name.ends_with("Chunk"); }

const Value* MessageIdReader::read(const Value& value) {
  if (!value.is_extension()) return nullptr;
  const detail::Node* node = ValueAccess::node(value);
  if (node->type != detail::kExtension) return nullptr;
  const auto* message = static_cast<const detail::ExtensionNode*>(node);
  const detail::Node* payload = ValueAccess::node(message->payload);
  const detail::ExtensionType* type = message->extension_type();
  if (!payload || payload->type != detail::kFlatObject) return nullptr;
  const auto* fields = static_cast<const detail::FlatObject*>(payload);
  const detail::Shape* shape = fields->shape();

  Known& known = known_[(reinterpret_cast<std::uintptr_t>(type) >> 6) % known_.size()];
  if (known.type != type || known.shape != shape) {
    const std::size_t position = shape->find("id");
    const bool is_whole_message = is_message(value) && !is_chunk(value) && position < shape->count;
    if (!is_whole_message) return nullptr;
    known = {type, shape, position};
  }
  const Value& id = fields->values()[known.position];
  return id.is_string() ? &id : nullptr;
}

}  // namespace clew::internal
