// The two layouts of an object: up to 32 entries a FlatObject, whose keys are a
// Shape shared with other objects of the same keys; beyond, a TreeObject.
#pragma once

#include "value/key_index.hpp"

namespace clew::detail {

// The keys of small objects. Above eight keys a table of positions follows
// them, so a lookup stays one hash and one or two comparisons.
struct Shape : Container {  // number is the hash of all keys
  const Value* keys() const { return trailing<const Value>(this); }
  Value* keys() { return trailing<Value>(this); }
  std::size_t find(std::string_view key) const;

 private:
  std::size_t find_linearly(std::string_view key) const;
};

struct FlatObject : Container {
  const Shape* shape() const {
    return static_cast<const Shape*>(static_cast<const Node*>(descriptor));
  }
  const Value* values() const { return trailing<const Value>(this); }
  Value* values() { return trailing<Value>(this); }
};

struct TreeObject : Container {
  Vector keys;
  Vector values;
  Ref<const KeyIndex> index;
};

// A string for use as a key. Short ones are inline, and those of middling
// length are shared with earlier ones of this thread.
Value make_key(std::string_view key);
// The same of a string.
inline Value as_key(Value text) {
  return ValueAccess::is_heap(text) ? make_key(ValueAccess::text_of(text)) : std::move(text);
}
// The type of an extension, shared with earlier ones of this thread.
Ref<const ExtensionType> make_extension_type(ExtensionCode code, std::string_view module,
                                             std::string_view name, std::string_view method,
                                             bool is_raw);

// An extension value as it was read, whatever its payload.
Value make_extension_node(ExtensionCode code, std::string_view module, std::string_view name,
                          std::string_view method, Value payload, bool is_raw = false);

// An object of these entries; for a repeated key the last value at the first
// position. Takes the keys and values.
Value make_object(std::span<Value> keys, std::span<Value> values);

// A shape that this thread noted last in a slot, for whoever reads objects whose keys are most
// often those of earlier ones, or nullptr. Shapes of large keys are not noted.
inline constexpr std::size_t kShapeSlots = 256;
const Shape* noted_shape(std::size_t slot);
void note_shape(std::size_t slot, const Shape* shape);

// The small object that a value is, or null.
inline const FlatObject* as_flat_object(const Value& object) {
  const Node* node = object.is_object() ? ValueAccess::node(object) : nullptr;
  return node && node->type == kFlatObject ? static_cast<const FlatObject*>(node) : nullptr;
}
// Whether `newer` has the keys of `older`, at the same positions, and perhaps more behind them.
bool keys_extend(const FlatObject& older, const FlatObject& newer);
// An object with the keys of another. Takes the values, one for each.
Value make_object_like(const FlatObject& other, std::span<Value> values);

// Reading; `object` is a FlatObject, a TreeObject, or nullptr for an empty one.
std::size_t object_size(const Node* object);
std::size_t object_find(const Node* object, std::string_view key);
const Value& object_key(const Node* object, std::size_t position);
const Value& object_value(const Node* object, std::size_t position);

// Finds one key of an object after the other, at little cost if they are asked for in the
// order in which the object has them.
class KeyFinder {
 public:
  explicit KeyFinder(const Value& object)
      : node_(object.is_object() ? ValueAccess::node(object) : nullptr) {}

  const Value* find(const Value& key) {
    if (node_ && node_->type == kFlatObject && next_ < node_->count) {
      const auto* object = static_cast<const FlatObject*>(node_);
      if (ValueAccess::same_words(object->shape()->keys()[next_], key)) {
        return &object->values()[next_++];
      }
    }
    return find_anywhere(ValueAccess::text_of(key));
  }

 private:
  const Value* find_anywhere(std::string_view key);

  const Node* node_;
  std::size_t next_ = 0;
};

// A new version with one entry replaced or added.
Value object_set(const Node* object, std::string_view key, Value value);
// Replaces an entry if nobody else holds the object; takes `value` and returns
// true if so.
bool object_set_in_place(const Node* object, std::string_view key, Value& value);
// Replaces an entry of `object`, of which others keep the version they hold. False if
// there is none with this key. It is looked for at `position` first.
bool object_replace(Value& object, std::size_t position, const Value& key, Value value);
// `older` with the entries of `newer`, both objects that are not empty.
Value object_merge(const Value& older, const Value& newer);

}  // namespace clew::detail
