#include <clew/value.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

#include "value/object.hpp"

namespace clew {

using detail::kNotFound;
using detail::Node;
using detail::PathStep;

namespace {

const Value kNull;

std::size_t list_size(const Node* list) {
  if (!list) return 0;
  return list->type == detail::kLeaf ? list->count
                                     : static_cast<const detail::TreeList*>(list)->elements.size;
}

const Value& list_element(const Node* list, std::size_t index) {
  if (list->type == detail::kLeaf) return static_cast<const detail::Leaf*>(list)->items()[index];
  return static_cast<const detail::TreeList*>(list)->elements[index];
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

[[noreturn]] void throw_past_end(std::size_t index, std::size_t size) {
  throw ValueError("index " + std::to_string(index) + " is past the end of a list of " +
                   std::to_string(size));
}

// A decimal integer without leading zeros; throws on other text.
std::string_view check_decimal(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const bool all_digits =
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits.empty() || !all_digits || (digits.size() > 1 && digits.front() == '0')) {
    throw ValueError("expected a decimal integer, found " + quoted(text));
  }
  return text;
}

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return "bool";
    case Kind::integer:
    case Kind::big_integer: return "int";
    case Kind::floating: return "float";
    case Kind::string: return "string";
    case Kind::bytes: return "bytes";
    case Kind::list: return "list";
    case Kind::object: return "object";
    case Kind::map: return "map";
    case Kind::extension: return "extension";
  }
  return "unknown";
}

// Text ------------------------------------------------------------------------

Value::Value(std::string_view text) : Value(ValueAccess::text(Kind::string, text)) {}

Value Value::bytes(std::string_view data) { return ValueAccess::text(Kind::bytes, data); }

// Numbers ---------------------------------------------------------------------

Value Value::from_uint(std::uint64_t integer) { return Value::integer(std::to_string(integer)); }

Value Value::integer(std::string_view decimal) {
  check_decimal(decimal);
  std::int64_t small = 0;
  const char* end = decimal.data() + decimal.size();
  const auto [rest, error] = std::from_chars(decimal.data(), end, small);
  if (error == std::errc() && rest == end) return from_int(small);
  return ValueAccess::text(Kind::big_integer, decimal);
}

bool Value::as_bool() const {
  if (!is_bool()) throw_kind("bool");
  return words_[0] != 0;
}

std::int64_t Value::as_int() const {
  if (kind() == Kind::big_integer) {
    throw ValueError("expected an integer of 64 bits, found " + integer_text());
  }
  if (!is_int()) throw_kind("int");
  return static_cast<std::int64_t>(words_[0]);
}

std::uint64_t Value::as_uint() const {
  const std::string digits = integer_text();
  std::uint64_t integer = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, integer);
  if (error != std::errc() || rest != end) {
    throw ValueError("expected an unsigned integer of 64 bits, found " + digits);
  }
  return integer;
}

double Value::as_double() const {
  switch (kind()) {
    case Kind::floating: return std::bit_cast<double>(words_[0]);
    case Kind::integer: return static_cast<double>(static_cast<std::int64_t>(words_[0]));
    case Kind::big_integer: {
      const std::string_view digits = ValueAccess::text_of(*this);
      double number = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
      return number;
    }
    default: throw_kind("float");
  }
}

std::string Value::integer_text() const {
  if (kind() == Kind::big_integer) return std::string(ValueAccess::text_of(*this));
  return std::to_string(as_int());
}

// Content ---------------------------------------------------------------------

std::string Value::type_name() const {
  return is_extension() ? as_extension().type_name() : std::string(kind_name(kind()));
}

void Value::throw_kind(std::string_view expected) const {
  throw ValueError("expected " + std::string(expected) + ", found " + type_name());
}

std::string_view Value::heap_text() const noexcept { return ValueAccess::text_of(*this); }

std::string_view Value::as_bytes() const& {
  if (!is_bytes()) throw_kind("bytes");
  return ValueAccess::text_of(*this);
}

std::size_t Value::size() const {
  const Node* node = ValueAccess::node(*this);
  switch (kind()) {
    case Kind::null: return 0;
    case Kind::list: return list_size(node);
    case Kind::map: return list_size(node) / 2;
    case Kind::object: return detail::object_size(node);
    default: throw_kind("list or object");
  }
}

const Value& Value::element_or_null(std::size_t index) const noexcept {
  const Node* node = ValueAccess::node(*this);
  if (!is_list() || index >= list_size(node)) return kNull;
  return list_element(node, index);
}

const Value* Value::find(std::string_view key) const noexcept {
  if (!is_object()) return nullptr;
  const Node* node = ValueAccess::node(*this);
  const std::size_t position = detail::object_find(node, key);
  return position == kNotFound ? nullptr : &detail::object_value(node, position);
}

const Value& Value::operator[](std::string_view key) const& noexcept {
  const Value* found = find(key);
  return found ? *found : kNull;
}

const Value& Value::at_path(std::span<const PathStep> path) const {
  const Value* value = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const PathStep& step = path[i];
    const Kind wanted = step.is_key ? Kind::object : Kind::list;
    if (value->kind() != wanted) {
      throw ValueError(
          detail::path_text(path.first(i)),
          "expected " + std::string(kind_name(wanted)) + ", found " + value->type_name());
    }
    if (!step.is_key && step.index >= value->size()) {
      throw ValueError(detail::path_text(path.first(i + 1)),
                       "the list has " + std::to_string(value->size()) + " elements");
    }
    value = step.is_key ? value->find(step.key) : &value->element_or_null(step.index);
    if (!value) throw ValueError(detail::path_text(path.first(i + 1)), "missing");
  }
  return *value;
}

std::string detail::path_text(std::span<const PathStep> steps) {
  std::string text = "$";
  for (const PathStep& step : steps) {
    text += step.is_key ? path_step(step.key) : path_step(step.index);
  }
  return text;
}

// Literals --------------------------------------------------------------------

namespace {

bool all_pairs(std::initializer_list<detail::Item> items) {
  for (const detail::Item& item : items) {
    if (!item.is_pair) return false;
  }
  return items.size() > 0;
}

Value object_of_pairs(std::initializer_list<detail::Item> pairs) {
  constexpr std::size_t kFew = 8;
  if (pairs.size() <= kFew) {
    detail::FewValues<kFew> keys;
    detail::FewValues<kFew> values;
    for (const detail::Item& pair : pairs) {
      keys.push_back(detail::as_key(std::move(pair.value)));
      values.push_back(std::move(pair.second));
    }
    return detail::make_object(keys.all(), values.all());
  }
  ObjectBuilder builder;
  for (const detail::Item& pair : pairs) {
    builder.set(pair.value.as_string(), std::move(pair.second));
  }
  return std::move(builder).build();
}

Value list_of_items(std::initializer_list<detail::Item> items) {
  detail::VectorEditor elements(items.size());
  for (const detail::Item& item : items) elements.push_back(item.as_value());
  return detail::vector_value(Kind::list, std::move(elements).finish());
}

}  // namespace

detail::Item::Item(std::initializer_list<Item> items) {
  is_pair = items.size() == 2 && !items.begin()->is_pair && items.begin()->value.is_string();
  if (is_pair) {
    value = std::move(items.begin()->value);
    second = std::data(items)[1].as_value();
  } else if (items.size() == 0 || all_pairs(items)) {
    value = object_of_pairs(items);
  } else {
    value = list_of_items(items);
  }
}

Value detail::Item::list_of_pair() const {
  VectorEditor elements(2);
  elements.push_back(std::move(value));
  elements.push_back(std::move(second));
  return vector_value(Kind::list, std::move(elements).finish());
}

Value::Value(std::initializer_list<detail::Item> items) {
  if (all_pairs(items)) {
    *this = object_of_pairs(items);
  } else if (items.size() == 1) {
    *this = items.begin()->as_value();
  } else {
    *this = list_of_items(items);
  }
}

Value list() { return ValueAccess::empty(Kind::list); }
Value list(std::initializer_list<detail::Item> elements) { return list_of_items(elements); }
Value object() { return ValueAccess::empty(Kind::object); }
Value object(std::initializer_list<std::pair<std::string_view, Value>> entries) {
  ObjectBuilder builder;
  for (const auto& [key, value] : entries) builder.set(key, value);
  return std::move(builder).build();
}

Value Value::map(std::span<const std::pair<Value, Value>> entries) {
  detail::VectorEditor flat;
  for (const auto& [key, value] : entries) {
    flat.push_back(key);
    flat.push_back(value);
  }
  return detail::vector_value(Kind::map, std::move(flat).finish());
}

std::vector<std::pair<Value, Value>> Value::as_map() const {
  const Node* node = ValueAccess::node(*this);
  std::vector<std::pair<Value, Value>> entries;
  if (is_object()) {
    for (auto [key, value] : items()) entries.emplace_back(key, value);
  } else if (kind() == Kind::map) {
    for (std::size_t i = 0; i < list_size(node); i += 2) {
      entries.emplace_back(list_element(node, i), list_element(node, i + 1));
    }
  } else {
    throw_kind("map");
  }
  return entries;
}

// Builders --------------------------------------------------------------------

ListBuilder::ListBuilder() = default;
ListBuilder::~ListBuilder() = default;

void ListBuilder::push_back(Value element) {
  if (!editor_) editor_ = std::make_unique<detail::VectorEditor>();
  editor_->push_back(std::move(element));
}

std::size_t ListBuilder::size() const noexcept { return editor_ ? editor_->size() : 0; }

Value ListBuilder::build() && {
  if (!editor_) return list();
  return detail::vector_value(Kind::list, std::move(*editor_).finish());
}

void ObjectBuilder::set(std::string_view key, Value value) {
  set_key(detail::make_key(key), std::move(value));
}

void ObjectBuilder::set_key(Value key, Value value) {
  if (!few_keys_.is_full()) {
    few_keys_.push_back(std::move(key));
    few_values_.push_back(std::move(value));
    return;
  }
  if (keys_.empty()) {
    std::ranges::move(few_keys_.all(), std::back_inserter(keys_));
    std::ranges::move(few_values_.all(), std::back_inserter(values_));
  }
  keys_.push_back(std::move(key));
  values_.push_back(std::move(value));
}

Value ObjectBuilder::build() && {
  if (!keys_.empty()) return detail::make_object(keys_, values_);
  return detail::make_object(few_keys_.all(), few_values_.all());
}

// Iteration -------------------------------------------------------------------

Value::Iterator ValueAccess::iterator(const Node* list, std::size_t index) {
  Value::Iterator iterator;
  iterator.list_ = list;
  iterator.index_ = index;
  iterator.load_chunk();
  return iterator;
}

void Value::Iterator::load_chunk() {
  if (index_ >= list_size(list_)) {
    current_ = chunk_end_ = nullptr;
    return;
  }
  const detail::Vector::Place place =
      list_->type == detail::kLeaf
          ? detail::Vector::Place{static_cast<const detail::Leaf*>(list_), index_}
          : static_cast<const detail::TreeList*>(list_)->elements.place_of(index_);
  current_ = place.leaf->items() + place.offset;
  chunk_end_ = place.leaf->items() + place.leaf->count;
}

Value::Iterator Value::begin() const& {
  if (!is_list() && !is_null()) throw_kind("list");
  return ValueAccess::iterator(ValueAccess::node(*this), 0);
}

Value::Iterator Value::end() const& {
  Iterator end;
  end.index_ = list_size(ValueAccess::node(*this));
  return end;
}

ValueItems Value::items() const& {
  if (!is_object() && !is_null()) throw_kind("object");
  return ValueItems(*this);
}

ValueItems::Entry ValueItems::Iterator::operator*() const {
  const Node* node = ValueAccess::node(*object_);
  return {ValueAccess::text_of(detail::object_key(node, index_)),
          detail::object_value(node, index_)};
}

// New versions ----------------------------------------------------------------

namespace {

// The list that `value` is; null counts as empty.
detail::Vector list_vector(const Value& value) {
  if (!value.is_list() && !value.is_null()) ValueAccess::throw_kind(value, "list");
  return detail::vector_of(ValueAccess::node(value));
}

// The leaves that two lists consist of, if one leaf has room for all their elements.
std::optional<std::pair<const detail::Leaf*, const detail::Leaf*>> short_lists(
    const Value& first, const Value& second) {
  const Node* a = ValueAccess::node(first);
  const Node* b = ValueAccess::node(second);
  const bool are_leaves = first.is_list() && second.is_list() && a && b &&
                          a->type == detail::kLeaf && b->type == detail::kLeaf;
  if (!are_leaves || a->count + b->count > static_cast<int>(detail::kWidth)) return std::nullopt;
  return std::pair(static_cast<const detail::Leaf*>(a), static_cast<const detail::Leaf*>(b));
}

// Appends without copying if nobody else can see the list.
bool append_in_place(const Node* list, Value& element) {
  if (!list || !detail::is_unique(list)) return false;
  detail::TreeList* tree = nullptr;
  const Node* tail = list;
  if (list->type == detail::kTreeList) {
    tree = static_cast<detail::TreeList*>(const_cast<Node*>(list));
    tail = tree->elements.tail.get();
  }
  auto* leaf = static_cast<detail::Leaf*>(const_cast<Node*>(tail));
  if (!detail::is_unique(leaf) || leaf->count == leaf->detail) return false;
  new (leaf->items() + leaf->count) Value(std::move(element));
  ++leaf->count;
  if (tree) ++tree->elements.size;
  return true;
}

}  // namespace

Value Value::append(Value element) const& {
  detail::VectorEditor editor(list_vector(*this));
  editor.push_back(std::move(element));
  return detail::vector_value(Kind::list, std::move(editor).finish());
}

Value Value::append(Value element) && {
  if (is_list() && append_in_place(ValueAccess::node(*this), element)) return std::move(*this);
  return std::as_const(*this).append(std::move(element));
}

Value Value::concat(const Value& list) const {
  if (const auto leaves = short_lists(*this, list)) {
    return detail::joined_leaves(leaves->first, leaves->second);
  }
  const detail::Vector elements = list_vector(*this);
  if (list.empty() && !is_null()) return *this;
  if (elements.size == 0 && list.is_list()) return list;
  detail::VectorEditor editor(elements);
  editor.append(list_vector(list));
  return detail::vector_value(Kind::list, std::move(editor).finish());
}

Value Value::slice(std::size_t begin, std::size_t end) const {
  const detail::Vector elements = list_vector(*this);
  end = std::min(end, elements.size);
  if (begin == 0 && end == elements.size && is_list()) return *this;
  detail::VectorEditor editor;
  editor.append(elements, begin, end);
  return detail::vector_value(Kind::list, std::move(editor).finish());
}

Value Value::set(std::size_t index, Value element) const {
  const detail::Vector elements = list_vector(*this);
  if (index >= elements.size) throw_past_end(index, elements.size);
  return detail::vector_value(Kind::list, elements.with(index, std::move(element)));
}

Value Value::set(std::string_view key, Value value) const& {
  if (!is_object() && !is_null()) throw_kind("object");
  return detail::object_set(ValueAccess::node(*this), key, std::move(value));
}

Value Value::set(std::string_view key, Value value) && {
  if (is_object() && detail::object_set_in_place(ValueAccess::node(*this), key, value)) {
    return std::move(*this);
  }
  return std::as_const(*this).set(key, std::move(value));
}

Value Value::erase(std::size_t index) const {
  if (index >= list_vector(*this).size) throw_past_end(index, size());
  return slice(0, index).concat(slice(index + 1, size()));
}

Value Value::erase(std::string_view key) const {
  if (!is_object() && !is_null()) throw_kind("object");
  if (!contains(key)) return *this;
  ObjectBuilder builder;
  for (auto [entry_key, value] : items()) {
    if (entry_key != key) builder.set(entry_key, value);
  }
  return std::move(builder).build();
}

Value Value::merge(const Value& object) const {
  if (!is_object() && !is_null()) throw_kind("object");
  if (empty() && object.is_object()) return object;
  return detail::object_merge(*this, object);
}

}  // namespace clew
