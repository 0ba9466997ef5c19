#include "value/object.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

namespace clew::detail {
namespace {

// Above this many keys a shape has a position table.
constexpr std::size_t kLinearKeys = 8;
constexpr std::size_t kTableSize = 64;

std::uint8_t* table_of(Shape* shape) {
  return reinterpret_cast<std::uint8_t*>(shape->keys() + shape->count);
}
const std::uint8_t* table_of(const Shape* shape) {
  return reinterpret_cast<const std::uint8_t*>(shape->keys() + shape->count);
}

// Short text is told by its two words.
std::uint64_t hash_of(const Value& key) {
  if (ValueAccess::is_heap(key)) return hash_key(ValueAccess::text_of(key));
  const std::uint64_t* words = ValueAccess::words(key);
  return std::rotl(words[0] * 0xC2B2AE3D27D4EB4FULL, 31) ^ words[1];
}

// The hash of keys whose hash was `hash`, and of more behind them.
std::uint64_t hash_keys(std::uint64_t hash, std::span<const Value> keys) {
  for (const Value& key : keys) {
    hash = (std::rotl(hash, 23) ^ hash_of(key)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32;
  }
  return hash;
}

void fill_table(Shape* shape) {
  std::uint8_t* table = table_of(shape);
  std::fill_n(table, kTableSize, std::uint8_t{0});
  for (std::size_t i = 0; i < shape->count; ++i) {
    std::size_t slot = hash_key(ValueAccess::text_of(shape->keys()[i])) % kTableSize;
    while (table[slot] != 0) slot = (slot + 1) % kTableSize;
    table[slot] = static_cast<std::uint8_t>(i + 1);
  }
}

Ref<const Shape> make_shape(std::span<const Value> keys, std::uint64_t hash) {
  const std::size_t table_bytes = keys.size() > kLinearKeys ? kTableSize : 0;
  Shape* shape = allocate<Shape>(kShape, keys.size_bytes() + table_bytes);
  shape->number = hash;
  shape->count = static_cast<std::uint16_t>(keys.size());
  std::uninitialized_copy(keys.begin(), keys.end(), shape->keys());
  if (table_bytes != 0) fill_table(shape);
  return Ref<const Shape>::adopt(shape);
}

bool is_same_key(const Value& a, const Value& b) {
  return ValueAccess::same_words(a, b) || ValueAccess::text_of(a) == ValueAccess::text_of(b);
}

bool are_same_keys(std::span<const Value> keys, const Value* others) {
  for (const Value& key : keys) {
    if (!is_same_key(key, *others++)) return false;
  }
  return true;
}

// Whether the keys of `shape` are `first` and then `rest`.
bool has_keys(const Shape* shape, std::span<const Value> first, std::span<const Value> rest) {
  return shape->count == first.size() + rest.size() && are_same_keys(first, shape->keys()) &&
         are_same_keys(rest, shape->keys() + first.size());
}

// The keys of a large object.
struct KeySet {
  std::uint64_t hash = 0;  // of all keys
  Vector keys;
  Ref<const KeyIndex> index;
};

// What this thread made lately and is likely to need again. A cache, not a
// registry: entries are simply overwritten, and large keys never enter, so it
// holds at most a few hundred kilobytes.
struct RecentlyMade {
  static constexpr std::size_t kLargestKey = 64;
  static constexpr std::size_t kMostKeys = 256;  // of a large object

  // A shape is in one of two neighbouring places, the one used last first.
  std::array<Ref<const Shape>, 512> shapes;
  std::array<Ref<const Shape>, kShapeSlots> noted_shapes;
  std::array<KeySet, 16> key_sets;
  std::size_t next_key_set = 0;  // to be overwritten
  std::array<Ref<const ExtensionType>, 64> types;
  std::array<Value, 512> keys;

  Ref<const Shape>* places_of_shape(std::uint64_t hash) {
    return &shapes[hash % (shapes.size() / 2) * 2];
  }
};

// Each thread has its own. These need no constructor, so that looking is a plain read.
constinit thread_local RecentlyMade* cache_of_thread = nullptr;
constinit thread_local bool thread_is_ending = false;

RecentlyMade* make_cache() {
  struct Owner {
    RecentlyMade cache;
    ~Owner() {
      thread_is_ending = true;
      cache_of_thread = nullptr;
    }
  };
  if (thread_is_ending) return nullptr;
  thread_local std::unique_ptr<Owner> owner = std::make_unique<Owner>();
  return cache_of_thread = &owner->cache;
}

// The cache of this thread, or nullptr while the thread is ending.
RecentlyMade* recently_made() { return cache_of_thread ? cache_of_thread : make_cache(); }

bool is_cacheable(std::span<const Value> keys) {
  return std::all_of(keys.begin(), keys.end(), [](const Value& key) {
    return ValueAccess::text_of(key).size() <= RecentlyMade::kLargestKey;
  });
}

// A shape of the keys `first` and then `rest`, if this thread made one lately.
Ref<const Shape> recent_shape(std::span<const Value> first, std::span<const Value> rest,
                              std::uint64_t hash) {
  RecentlyMade* recent = recently_made();
  if (!recent) return {};
  Ref<const Shape>* places = recent->places_of_shape(hash);
  const auto is_it = [&](const Ref<const Shape>& shape) {
    return shape && shape->number == hash && has_keys(shape.get(), first, rest);
  };
  if (is_it(places[0])) return places[0];
  if (!is_it(places[1])) return {};
  std::swap(places[0], places[1]);
  return places[0];
}

void remember_shape(std::span<const Value> keys, const Ref<const Shape>& shape) {
  RecentlyMade* recent = recently_made();
  if (!recent || !is_cacheable(keys)) return;
  Ref<const Shape>* places = recent->places_of_shape(shape->number);
  places[1] = std::exchange(places[0], shape);
}

// Moves the last value of each repeated key to the key's first position.
// Returns how many distinct keys remain.
std::size_t drop_repeated_keys(std::span<Value> keys, std::span<Value> values) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string_view key = ValueAccess::text_of(keys[i]);
    std::size_t earlier = 0;
    while (earlier < kept && ValueAccess::text_of(keys[earlier]) != key) ++earlier;
    if (earlier == i) {
      ++kept;
      continue;
    }
    keys[earlier].swap(keys[i]);
    values[earlier].swap(values[i]);
    if (earlier == kept) ++kept;
  }
  return kept;
}

Value flat_object(Ref<const Shape> shape, std::span<Value> values) {
  FlatObject* object = allocate<FlatObject>(kFlatObject, values.size_bytes());
  object->count = static_cast<std::uint16_t>(values.size());
  object->descriptor = std::move(shape).take();
  std::uninitialized_move(values.begin(), values.end(), object->values());
  return ValueAccess::adopt(Kind::object, object);
}

Value small_object(std::span<Value> keys, std::span<Value> values) {
  if (keys.empty()) return ValueAccess::empty(Kind::object);
  const std::uint64_t hash = hash_keys(0, keys);
  // Only shapes without repeated keys are ever made, so a hit needs no check.
  Ref<const Shape> shape = recent_shape(keys, {}, hash);
  if (!shape) {
    const std::size_t distinct = drop_repeated_keys(keys, values);
    if (distinct < keys.size()) {
      return small_object(keys.first(distinct), values.first(distinct));
    }
    shape = make_shape(keys, hash);
    remember_shape(keys, shape);
  }
  return flat_object(std::move(shape), values);
}

Value tree_object(Vector keys, Vector values, Ref<const KeyIndex> index) {
  TreeObject* object = allocate<TreeObject>(kTreeObject, 0);
  object->keys = std::move(keys);
  object->values = std::move(values);
  object->index = std::move(index);
  return ValueAccess::adopt(Kind::object, object);
}

const TreeObject* as_tree(const Node* object) { return static_cast<const TreeObject*>(object); }
const FlatObject* as_flat(const Node* object) { return static_cast<const FlatObject*>(object); }

// Nobody else holds the object, so nobody sees it change.
void replace_in_place(const Node* object, std::size_t position, Value& value) {
  if (object->type == kFlatObject) {
    const_cast<FlatObject*>(as_flat(object))->values()[position].swap(value);
  } else {
    const_cast<TreeObject*>(as_tree(object))->values.set(position, std::move(value));
  }
}

Value tree_object_with(const TreeObject* object, std::size_t position, Value value) {
  return tree_object(object->keys, object->values.with(position, std::move(value)), object->index);
}

Value tree_object_set(const TreeObject* object, std::string_view key, Value value) {
  const std::size_t position = find_key(object->index.get(), key, object->keys);
  if (position != kNotFound) return tree_object_with(object, position, std::move(value));
  VectorEditor keys(object->keys);
  VectorEditor values(object->values);
  keys.push_back(make_key(key));
  values.push_back(std::move(value));
  Vector new_keys = std::move(keys).finish();
  Ref<const KeyIndex> index = add_key(object->index.get(), new_keys.size - 1, new_keys);
  return tree_object(std::move(new_keys), std::move(values).finish(), std::move(index));
}

// A copy with room for more values behind those of `object`, which are still to be made.
FlatObject* copy_values(const FlatObject* object, Ref<const Shape> shape, std::size_t more = 0) {
  const std::size_t count = object->count + more;
  FlatObject* copy = allocate<FlatObject>(kFlatObject, count * sizeof(Value));
  copy->count = static_cast<std::uint16_t>(count);
  copy->descriptor = std::move(shape).take();
  std::uninitialized_copy_n(object->values(), object->count, copy->values());
  return copy;
}

Value flat_object_with(const FlatObject* object, std::size_t position, Value value) {
  FlatObject* copy = copy_values(object, Ref<const Shape>::share(object->shape()));
  copy->values()[position] = std::move(value);
  return ValueAccess::adopt(Kind::object, copy);
}

// Adds entries with keys that `object` does not have.
Value flat_object_add(const FlatObject* object, std::span<Value> keys, std::span<Value> values) {
  if (keys.empty()) {
    return ValueAccess::adopt(Kind::object,
                              copy_values(object, Ref<const Shape>::share(object->shape())));
  }
  const std::span<const Value> old_keys(object->shape()->keys(), object->count);
  const std::uint64_t hash = hash_keys(object->shape()->number, keys);
  if (Ref<const Shape> shape = recent_shape(old_keys, keys, hash)) {
    FlatObject* longer = copy_values(object, std::move(shape), keys.size());
    std::uninitialized_move(values.begin(), values.end(), longer->values() + object->count);
    return ValueAccess::adopt(Kind::object, longer);
  }
  std::vector<Value> all_keys(old_keys.begin(), old_keys.end());
  std::vector<Value> all_values(object->values(), object->values() + object->count);
  std::move(keys.begin(), keys.end(), std::back_inserter(all_keys));
  std::move(values.begin(), values.end(), std::back_inserter(all_values));
  return make_object(all_keys, all_values);
}

Value flat_object_set(const FlatObject* object, std::string_view key, Value value) {
  const std::size_t position = object->shape()->find(key);
  if (position == kNotFound) {
    Value new_key = make_key(key);
    return flat_object_add(object, {&new_key, 1}, {&value, 1});
  }
  return flat_object_with(object, position, std::move(value));
}

Value flat_object_merge(const FlatObject* older, const FlatObject* newer) {
  FewValues<kWidth> added_keys;
  FewValues<kWidth> added_values;
  std::array<std::size_t, kWidth> positions;
  for (std::size_t i = 0; i < newer->count; ++i) {
    const Value& key = newer->shape()->keys()[i];
    positions[i] = older->shape()->find(ValueAccess::text_of(key));
    if (positions[i] != kNotFound) continue;
    added_keys.push_back(key);
    added_values.push_back(newer->values()[i]);
  }
  Value merged = flat_object_add(older, added_keys.all(), added_values.all());
  const Node* node = ValueAccess::node(merged);
  for (std::size_t i = 0; i < newer->count; ++i) {
    if (positions[i] == kNotFound) continue;
    Value value = newer->values()[i];
    replace_in_place(node, positions[i], value);
  }
  return merged;
}

Value tree_object_merge(const TreeObject* older, const Value& newer) {
  Vector values = older->values;
  std::vector<std::pair<std::string_view, const Value*>> added;
  for (auto [key, value] : newer.items()) {
    const std::size_t position = find_key(older->index.get(), key, older->keys);
    if (position != kNotFound) {
      values.set(position, value);
    } else {
      added.emplace_back(key, &value);
    }
  }
  if (added.empty()) return tree_object(older->keys, std::move(values), older->index);
  VectorEditor key_editor(older->keys);
  VectorEditor value_editor(values);
  for (const auto& [key, value] : added) {
    key_editor.push_back(make_key(key));
    value_editor.push_back(*value);
  }
  Vector keys = std::move(key_editor).finish();
  Ref<const KeyIndex> index = older->index;
  for (std::size_t i = older->keys.size; i < keys.size; ++i) index = add_key(index.get(), i, keys);
  return tree_object(std::move(keys), std::move(value_editor).finish(), std::move(index));
}

// Gives each repeated key's last value to its first occurrence; returns which
// entries repeat an earlier key.
std::vector<bool> fold_repeated_keys(std::span<const Value> keys, std::span<Value> values) {
  std::vector<std::pair<std::uint64_t, std::size_t>> by_hash;
  by_hash.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    by_hash.emplace_back(hash_key(ValueAccess::text_of(keys[i])), i);
  }
  std::sort(by_hash.begin(), by_hash.end());

  std::vector<bool> repeats(keys.size(), false);
  for (std::size_t i = 0; i < by_hash.size(); ++i) {
    const auto [hash, first] = by_hash[i];
    if (repeats[first]) continue;
    for (std::size_t j = i + 1; j < by_hash.size() && by_hash[j].first == hash; ++j) {
      const std::size_t later = by_hash[j].second;
      if (ValueAccess::text_of(keys[later]) != ValueAccess::text_of(keys[first])) continue;
      values[first].swap(values[later]);
      repeats[later] = true;
    }
  }
  return repeats;
}

Vector vector_from(std::span<Value> elements) {
  VectorEditor editor;
  for (Value& element : elements) editor.push_back(std::move(element));
  return std::move(editor).finish();
}

bool has_keys(const KeySet& set, std::span<const Value> keys) {
  if (set.keys.size != keys.size()) return false;
  for (std::size_t i = 0; i < keys.size();) {
    const auto [leaf, offset] = set.keys.place_of(i);
    if (!std::equal(leaf->items(), leaf->items() + leaf->count, keys.data() + i, is_same_key)) {
      return false;
    }
    i += leaf->count;
  }
  return true;
}

// A graph with many channels makes the same large objects again and again, and
// the index of their keys is what costs most about them.
const KeySet* recent_key_set(std::span<const Value> keys, std::uint64_t hash) {
  RecentlyMade* recent = recently_made();
  if (!recent) return nullptr;
  const auto found =
      std::find_if(recent->key_sets.begin(), recent->key_sets.end(),
                   [&](const KeySet& set) { return set.hash == hash && has_keys(set, keys); });
  return found == recent->key_sets.end() ? nullptr : &*found;
}

void remember_key_set(KeySet set) {
  if (RecentlyMade* recent = recently_made()) {
    recent->key_sets[recent->next_key_set++ % recent->key_sets.size()] = std::move(set);
  }
}

Value large_object(std::span<Value> keys, std::span<Value> values) {
  const std::uint64_t hash = hash_keys(0, keys);
  // Only sets without repeated keys are kept, so a hit needs no check.
  if (const KeySet* set = recent_key_set(keys, hash)) {
    return tree_object(set->keys, vector_from(values), set->index);
  }
  const bool may_recur = keys.size() <= RecentlyMade::kMostKeys && is_cacheable(keys);
  const std::vector<bool> repeats = fold_repeated_keys(keys, values);
  VectorEditor key_editor;
  VectorEditor value_editor;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (repeats[i]) continue;
    key_editor.push_back(std::move(keys[i]));
    value_editor.push_back(std::move(values[i]));
  }
  Vector new_keys = std::move(key_editor).finish();
  Ref<const KeyIndex> index = index_keys(new_keys);
  if (may_recur && new_keys.size == keys.size()) remember_key_set({hash, new_keys, index});
  return tree_object(std::move(new_keys), std::move(value_editor).finish(), std::move(index));
}

}  // namespace

std::size_t Shape::find_linearly(std::string_view key) const {
  if (key.size() <= ValueAccess::kInlineText) {
    // Short text is the same if its two words are.
    const Value words = ValueAccess::text(Kind::string, key);
    for (std::size_t i = 0; i < count; ++i) {
      if (ValueAccess::same_words(keys()[i], words)) return i;
    }
    return kNotFound;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (ValueAccess::text_of(keys()[i]) == key) return i;
  }
  return kNotFound;
}

std::size_t Shape::find(std::string_view key) const {
  if (count <= kLinearKeys) return find_linearly(key);
  const std::uint8_t* table = table_of(this);
  for (std::size_t slot = hash_key(key) % kTableSize; table[slot] != 0;
       slot = (slot + 1) % kTableSize) {
    const std::size_t position = table[slot] - 1U;
    if (ValueAccess::text_of(keys()[position]) == key) return position;
  }
  return kNotFound;
}

Value make_key(std::string_view key) {
  if (key.size() <= ValueAccess::kInlineText || key.size() > RecentlyMade::kLargestKey) {
    return Value(key);
  }
  RecentlyMade* recent = recently_made();
  if (!recent) return Value(key);
  Value& cached = recent->keys[hash_key(key) % recent->keys.size()];
  if (ValueAccess::text_of(cached) != key) cached = Value(key);
  return cached;
}

const Shape* noted_shape(std::size_t slot) {
  const RecentlyMade* recent = recently_made();
  return recent ? recent->noted_shapes[slot].get() : nullptr;
}

void note_shape(std::size_t slot, const Shape* shape) {
  RecentlyMade* recent = recently_made();
  if (!recent || !is_cacheable({shape->keys(), shape->count})) return;
  recent->noted_shapes[slot] = Ref<const Shape>::share(shape);
}

Ref<const ExtensionType> make_extension_type(ExtensionCode code, std::string_view module,
                                             std::string_view name, std::string_view method,
                                             bool is_raw) {
  const auto matches = [&](const ExtensionType& type) {
    return type.code == code && type.is_raw == is_raw && ValueAccess::text_of(type.name) == name &&
           ValueAccess::text_of(type.module) == module &&
           ValueAccess::text_of(type.method) == method;
  };
  RecentlyMade* recent = recently_made();
  const std::uint64_t hash = hash_key(name) * 31 + hash_key(module);
  if (recent) {
    const auto& cached = recent->types[hash % recent->types.size()];
    if (cached && matches(*cached.get())) return cached;
  }
  ExtensionType* type = allocate<ExtensionType>(kExtensionType, 0);
  auto result = Ref<const ExtensionType>::adopt(type);
  type->module = Value(module);
  type->name = Value(name);
  type->method = Value(method);
  type->code = code;
  type->is_raw = is_raw;
  if (recent && module.size() + name.size() + method.size() <= 4 * RecentlyMade::kLargestKey) {
    recent->types[hash % recent->types.size()] = result;
  }
  return result;
}

Value make_object_like(const FlatObject& other, std::span<Value> values) {
  return flat_object(Ref<const Shape>::share(other.shape()), values);
}

bool keys_extend(const FlatObject& older, const FlatObject& newer) {
  if (older.shape() == newer.shape()) return true;
  return older.count <= newer.count &&
         are_same_keys({older.shape()->keys(), older.count}, newer.shape()->keys());
}

Value make_object(std::span<Value> keys, std::span<Value> values) {
  if (keys.size() <= kWidth) return small_object(keys, values);
  return large_object(keys, values);
}

std::size_t object_size(const Node* object) {
  if (!object) return 0;
  return object->type == kFlatObject ? object->count : as_tree(object)->keys.size;
}

std::size_t object_find(const Node* object, std::string_view key) {
  if (!object) return kNotFound;
  if (object->type == kFlatObject) return as_flat(object)->shape()->find(key);
  return find_key(as_tree(object)->index.get(), key, as_tree(object)->keys);
}

const Value& object_key(const Node* object, std::size_t position) {
  return object->type == kFlatObject ? as_flat(object)->shape()->keys()[position]
                                     : as_tree(object)->keys[position];
}

const Value& object_value(const Node* object, std::size_t position) {
  return object->type == kFlatObject ? as_flat(object)->values()[position]
                                     : as_tree(object)->values[position];
}

const Value* KeyFinder::find_anywhere(std::string_view key) {
  const std::size_t position = object_find(node_, key);
  if (position == kNotFound) return nullptr;
  next_ = position + 1;
  return &object_value(node_, position);
}

Value object_set(const Node* object, std::string_view key, Value value) {
  if (!object) {
    Value new_key = make_key(key);
    return make_object({&new_key, 1}, {&value, 1});
  }
  if (object->type == kFlatObject) return flat_object_set(as_flat(object), key, std::move(value));
  return tree_object_set(as_tree(object), key, std::move(value));
}

bool object_set_in_place(const Node* object, std::string_view key, Value& value) {
  if (!object || !is_unique(object)) return false;
  const std::size_t position = object_find(object, key);
  if (position == kNotFound) return false;
  replace_in_place(object, position, value);
  return true;
}

bool object_replace(Value& object, std::size_t position, const Value& key, Value value) {
  const Node* node = ValueAccess::node(object);
  const bool is_there =
      position < object_size(node) && is_same_key(object_key(node, position), key);
  if (!is_there) position = object_find(node, ValueAccess::text_of(key));
  if (position == kNotFound) return false;
  if (is_unique(node)) {
    replace_in_place(node, position, value);
  } else if (node->type == kFlatObject) {
    object = flat_object_with(as_flat(node), position, std::move(value));
  } else {
    object = tree_object_with(as_tree(node), position, std::move(value));
  }
  return true;
}

Value object_merge(const Value& older, const Value& newer) {
  const Node* a = ValueAccess::node(older);
  const Node* b = ValueAccess::node(newer);
  const bool are_flat = a && b && a->type == kFlatObject && b->type == kFlatObject;
  if (are_flat) return flat_object_merge(as_flat(a), as_flat(b));
  if (a && a->type == kTreeObject) return tree_object_merge(as_tree(a), newer);
  ObjectBuilder merged;
  for (auto [key, value] : older.items()) merged.set(key, value);
  for (auto [key, value] : newer.items()) merged.set(key, value);
  return std::move(merged).build();
}

}  // namespace clew::detail
