// Equality, order, hash and difference. Values may be nested deeper than the
// stack, so what must look at everything keeps its own stack of what is left.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "value/object.hpp"

namespace clew {

using detail::Node;

namespace {

bool has_text(Kind kind) {
  return kind == Kind::string || kind == Kind::bytes || kind == Kind::big_integer;
}

std::strong_ordering compare_doubles(double a, double b) {
  const bool a_is_nan = std::isnan(a);
  const bool b_is_nan = std::isnan(b);
  if (a_is_nan || b_is_nan) return a_is_nan <=> b_is_nan;
  return a < b   ? std::strong_ordering::less
         : b < a ? std::strong_ordering::greater
                 : std::strong_ordering::equal;
}

std::strong_ordering compare_integers(const Value& a, const Value& b) {
  const std::string_view x = ValueAccess::text_of(a);
  const std::string_view y = ValueAccess::text_of(b);
  const bool negative = x.starts_with('-');
  if (negative != y.starts_with('-')) {
    return negative ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  const std::strong_ordering magnitude =
      x.size() != y.size() ? x.size() <=> y.size() : x.compare(y) <=> 0;
  return negative ? 0 <=> magnitude : magnitude;
}

// Orders two values of one kind that hold no others.
std::strong_ordering compare_scalars(const Value& a, const Value& b) {
  switch (a.kind()) {
    case Kind::boolean: return a.as_bool() <=> b.as_bool();
    case Kind::integer: return a.as_int() <=> b.as_int();
    case Kind::big_integer: return compare_integers(a, b);
    case Kind::floating: return compare_doubles(a.as_double(), b.as_double());
    case Kind::string:
    case Kind::bytes: return ValueAccess::text_of(a).compare(ValueAccess::text_of(b)) <=> 0;
    default: return std::strong_ordering::equal;
  }
}

// A map holds its keys and values in a row, like a list.
const Value& flat_element(const Value& list_or_map, std::size_t index) {
  const Node* node = ValueAccess::node(list_or_map);
  if (node->type == detail::kLeaf) return static_cast<const detail::Leaf*>(node)->items()[index];
  return static_cast<const detail::TreeList*>(node)->elements[index];
}

std::size_t flat_size(const Value& list_or_map) {
  return list_or_map.size() * (list_or_map.kind() == Kind::map ? 2 : 1);
}

std::vector<std::string_view> sorted_keys(const Value& object) {
  std::vector<std::string_view> keys;
  for (auto [key, value] : object.items()) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

const detail::ExtensionNode* as_extension_node(const Value& value) {
  const Node* node = ValueAccess::node(value);
  return node->type == detail::kExtension ? static_cast<const detail::ExtensionNode*>(node)
                                          : nullptr;
}

std::strong_ordering compare_types(const detail::ExtensionType& a, const detail::ExtensionType& b) {
  if (auto order = a.code <=> b.code; order != 0) return order;
  if (auto order = a.is_raw <=> b.is_raw; order != 0) return order;
  if (auto order = compare_scalars(a.module, b.module); order != 0) return order;
  if (auto order = compare_scalars(a.name, b.name); order != 0) return order;
  return compare_scalars(a.method, b.method);
}

// Compares two values part by part. The parts still to be compared wait on a
// stack, the next one on top; the first that differs decides.
class Comparison {
 public:
  std::strong_ordering run(const Value& a, const Value& b) {
    std::strong_ordering order = compare(a, b);
    while (order == 0 && !pending_.empty()) {
      const Part part = pending_.back();
      pending_.pop_back();
      order = part.a ? compare(*part.a, *part.b) : part.verdict;
    }
    return order;
  }

 private:
  // Two values to compare, or a verdict that holds once all before it are equal.
  struct Part {
    const Value* a;
    const Value* b;
    std::strong_ordering verdict = std::strong_ordering::equal;
  };

  void push(const Value& a, const Value& b) { pending_.push_back({&a, &b}); }

  std::strong_ordering compare(const Value& a, const Value& b) {
    if (ValueAccess::same_words(a, b)) return std::strong_ordering::equal;
    if (a.kind() != b.kind()) return a.kind() <=> b.kind();
    switch (a.kind()) {
      case Kind::list:
      case Kind::map: push_elements(a, b); return std::strong_ordering::equal;
      case Kind::object: return compare_objects(a, b);
      case Kind::extension: return compare_extensions(a, b);
      default: return compare_scalars(a, b);
    }
  }

  void push_elements(const Value& a, const Value& b) {
    const std::size_t a_size = flat_size(a);
    const std::size_t b_size = flat_size(b);
    pending_.push_back({nullptr, nullptr, a_size <=> b_size});
    for (std::size_t i = std::min(a_size, b_size); i-- > 0;) {
      push(flat_element(a, i), flat_element(b, i));
    }
  }

  std::strong_ordering compare_objects(const Value& a, const Value& b) {
    const auto a_keys = sorted_keys(a);
    const auto b_keys = sorted_keys(b);
    if (auto order = a_keys <=> b_keys; order != 0) return order;
    for (std::size_t i = a_keys.size(); i-- > 0;) push(*a.find(a_keys[i]), *b.find(a_keys[i]));
    return std::strong_ordering::equal;
  }

  std::strong_ordering compare_extensions(const Value& a, const Value& b) {
    const auto* x = as_extension_node(a);
    const auto* y = as_extension_node(b);
    if (!x || !y) return ValueAccess::word(a) <=> ValueAccess::word(b);
    if (auto order = compare_types(*x->extension_type(), *y->extension_type()); order != 0) {
      return order;
    }
    push(x->payload, y->payload);
    return std::strong_ordering::equal;
  }

  std::vector<Part> pending_;
};

// Equality alone, without sorting keys.
class EqualityCheck {
 public:
  bool run(const Value& a, const Value& b) {
    if (!equal_so_far(a, b)) return false;
    while (!pending_.empty()) {
      const auto [x, y] = pending_.back();
      pending_.pop_back();
      if (!equal_so_far(*x, *y)) return false;
    }
    return true;
  }

 private:
  bool equal_so_far(const Value& a, const Value& b) {
    if (a.kind() != b.kind()) return false;
    if (a.kind() != Kind::floating && ValueAccess::same_words(a, b)) return true;
    switch (a.kind()) {
      case Kind::list:
      case Kind::map: return push_elements(a, b);
      case Kind::object: return push_entries(a, b);
      case Kind::extension: return push_payload(a, b);
      default: return compare_scalars(a, b) == 0;
    }
  }

  bool push_elements(const Value& a, const Value& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = flat_size(a); i-- > 0;) {
      pending_.emplace_back(&flat_element(a, i), &flat_element(b, i));
    }
    return true;
  }

  bool push_entries(const Value& a, const Value& b) {
    if (a.size() != b.size()) return false;
    for (auto [key, value] : a.items()) {
      const Value* other = b.find(key);
      if (!other) return false;
      pending_.emplace_back(&value, other);
    }
    return true;
  }

  bool push_payload(const Value& a, const Value& b) {
    const auto* x = as_extension_node(a);
    const auto* y = as_extension_node(b);
    if (!x || !y || compare_types(*x->extension_type(), *y->extension_type()) != 0) return false;
    pending_.emplace_back(&x->payload, &y->payload);
    return true;
  }

  std::vector<std::pair<const Value*, const Value*>> pending_;
};

constexpr int kHashedDepth = 16;

std::uint64_t mix(std::uint64_t hash, std::uint64_t part) {
  return (std::rotl(hash, 29) ^ part) * 0x9E3779B97F4A7C15ULL;
}

// Equal values have equal hashes; what lies deeper than kHashedDepth counts by
// kind only, which bounds the recursion.
std::uint64_t hash_value(const Value& value, int depth) {
  std::uint64_t hash = mix(0, static_cast<std::uint64_t>(value.kind()) + 1);
  if (depth > kHashedDepth) return hash;
  if (has_text(value.kind())) return mix(hash, detail::hash_key(ValueAccess::text_of(value)));
  switch (value.kind()) {
    case Kind::floating: {
      const double number = value.as_double();
      if (std::isnan(number)) return mix(hash, 1);
      return mix(hash, std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number));
    }
    case Kind::list:
    case Kind::map:
      for (std::size_t i = 0; i < flat_size(value); ++i) {
        hash = mix(hash, hash_value(flat_element(value, i), depth + 1));
      }
      return hash;
    case Kind::object: {
      std::uint64_t sum = 0;  // order does not matter
      for (auto [key, entry] : value.items()) {
        sum += mix(detail::hash_key(key), hash_value(entry, depth + 1));
      }
      return mix(hash, sum);
    }
    case Kind::extension: {
      const auto* extension = as_extension_node(value);
      if (!extension) return mix(hash, ValueAccess::word(value));
      hash = mix(hash, hash_value(extension->extension_type()->name, depth + 1));
      return mix(hash, hash_value(extension->payload, depth + 1));
    }
    default: return mix(hash, ValueAccess::word(value));
  }
}

// Walks two lists by leaves, stepping over every subtree that both share.
class ListDifference {
 public:
  ListDifference(const detail::Vector& older, const detail::Vector& newer)
      : older_(older), newer_(newer), common_(std::min(older_.size, newer_.size)) {}

  Difference run() {
    std::size_t index = 0;
    while (index < common_) {
      const std::size_t shared = shared_from(index);
      index += shared > 0 ? std::min(shared, common_ - index) : compare_leaves(index);
    }
    result_.kept = result_.changed.empty() ? common_ : result_.changed.front();
    return std::move(result_);
  }

 private:
  // How many elements from `index` on lie in one shared subtree.
  std::size_t shared_from(std::size_t index) const {
    const Node* shared = nullptr;
    for (unsigned level = 0;; ++level) {
      const Node* node = older_.node_at(index, level);
      if (!node || node != newer_.node_at(index, level)) break;
      shared = node;
    }
    return shared ? detail::node_size(shared) : 0;
  }

  std::size_t compare_leaves(std::size_t index) {
    const detail::Vector::Place a = older_.place_of(index);
    const detail::Vector::Place b = newer_.place_of(index);
    const std::size_t count =
        std::min({a.leaf->count - a.offset, b.leaf->count - b.offset, common_ - index});
    if (a.leaf == b.leaf && a.offset == b.offset) return count;
    for (std::size_t i = 0; i < count; ++i) {
      if (!same(a.leaf->items()[a.offset + i], b.leaf->items()[b.offset + i])) {
        result_.changed.push_back(index + i);
      }
    }
    return count;
  }

  detail::Vector older_;
  detail::Vector newer_;
  std::size_t common_;
  Difference result_;
};

const detail::TreeObject* as_tree_object(const Value& object) {
  const Node* node = ValueAccess::node(object);
  return node && node->type == detail::kTreeObject ? static_cast<const detail::TreeObject*>(node)
                                                   : nullptr;
}

// Two objects of which one extends the other keep their keys at the same
// positions, so their values compare as two lists do.
bool keys_extend(const detail::TreeObject& older, const detail::TreeObject& newer) {
  if (older.keys.size > newer.keys.size) return false;
  return ListDifference(older.keys, newer.keys).run().changed.empty();
}

Difference difference_by_position(const detail::FlatObject& older,
                                  const detail::FlatObject& newer) {
  Difference result;
  result.changed.reserve(newer.count);
  for (std::size_t i = 0; i < newer.count; ++i) {
    const bool is_kept = i < older.count && same(older.values()[i], newer.values()[i]);
    if (!is_kept) result.changed.push_back(i);
  }
  return result;
}

Difference difference_by_position(const detail::TreeObject& older,
                                  const detail::TreeObject& newer) {
  Difference result = ListDifference(older.values, newer.values).run();
  result.kept = 0;
  for (std::size_t i = older.keys.size; i < newer.keys.size; ++i) result.changed.push_back(i);
  return result;
}

Difference difference_by_key(const Value& older, const Value& newer) {
  Difference result;
  std::vector<std::string_view> kept_keys;
  for (auto [key, value] : older.items()) {
    if (newer.contains(key)) {
      kept_keys.push_back(key);
    } else {
      result.erased.emplace_back(key);
    }
  }
  std::size_t position = 0;
  for (auto [key, value] : newer.items()) {
    const Value* before = older.find(key);
    if (!before || !same(*before, value)) result.changed.push_back(position);
    if (position < kept_keys.size() && kept_keys[position] != key) result.keeps_order = false;
    ++position;
  }
  return result;
}

Difference object_difference(const Value& older, const Value& newer) {
  const auto* old_flat = detail::as_flat_object(older);
  const auto* new_flat = detail::as_flat_object(newer);
  if (old_flat && new_flat && keys_extend(*old_flat, *new_flat)) {
    return difference_by_position(*old_flat, *new_flat);
  }
  const auto* old_tree = as_tree_object(older);
  const auto* new_tree = as_tree_object(newer);
  if (old_tree && new_tree && keys_extend(*old_tree, *new_tree)) {
    return difference_by_position(*old_tree, *new_tree);
  }
  return difference_by_key(older, newer);
}

}  // namespace

bool operator==(const Value& a, const Value& b) noexcept { return EqualityCheck().run(a, b); }

std::strong_ordering operator<=>(const Value& a, const Value& b) { return Comparison().run(a, b); }

std::size_t Value::hash() const noexcept { return hash_value(*this, 0); }

bool same(const Value& a, const Value& b) noexcept {
  if (ValueAccess::same_words(a, b)) return true;
  return a.kind() == b.kind() && has_text(a.kind()) &&
         ValueAccess::text_of(a) == ValueAccess::text_of(b);
}

Difference difference(const Value& older, const Value& newer) {
  if (older.is_list() && newer.is_list()) {
    return ListDifference(detail::vector_of(ValueAccess::node(older)),
                          detail::vector_of(ValueAccess::node(newer)))
        .run();
  }
  if (older.is_object() && newer.is_object()) return object_difference(older, newer);
  throw ValueError("difference() compares two lists or two objects, found " + older.type_name() +
                   " and " + newer.type_name());
}

}  // namespace clew
