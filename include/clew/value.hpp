// A Value is what flows through Clew: null, bool, integer, float, string, bytes,
// list, object, and the typed values of other languages (see extension.hpp).
//
//   Value state{{"foo", "a"}, {"bar", {"x", 1, nullptr}}};      // an object
//   Value longer = state["bar"].append("y");                    // a new list; state is unchanged
//   std::int64_t one = state.get<std::int64_t>("bar", 1);
//   state.get<std::string>("bar", 1);      // throws ValueError "$.bar[1]: expected string, found int"
//
// Values are immutable and shared. A copy costs one reference count, a changed
// version shares what did not change, and any thread may read or copy any Value
// at any time. Assigning to one Value variable from two threads is a data race,
// as for any variable.
//
// Braces: inside a literal, braces whose elements are all {"key", value} pairs
// are an object, other braces are a list, and empty braces are an empty object.
// The outermost braces around one element that is not a pair are that element,
// so Value{other} is always a copy. list({...}) and object({...}) say plainly
// which one is meant.
#pragma once

#include <atomic>
#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <clew/error.hpp>

namespace clew {

class Value;
class ValueItems;
struct Extension;

// How a C++ type becomes a Value and back. convert.hpp holds the standard types
// and explains how to add your own.
template <class T>
struct Converter;

enum class Kind : std::uint8_t {
  null,
  boolean,
  integer,      // fits std::int64_t
  big_integer,  // does not; kept as exact decimal text
  floating,
  string,  // UTF-8 text
  bytes,
  list,
  object,     // string keys, insertion ordered
  map,        // keys of any kind, as Python dictionaries may have
  extension,  // a typed value: a date, a message, a set, a foreign class
};

// "null", "bool", "int", "int", "float", "string", "bytes", "list", "object", "map", "extension".
std::string_view kind_name(Kind kind);

namespace detail {

struct Item;
class VectorEditor;

// The head of everything a Value points to. What follows it depends on `type`;
// src/value/node.hpp draws the layouts.
struct Node {
  mutable std::atomic<std::uint32_t> references{1};
  std::uint8_t type = 0;
  std::uint8_t detail = 0;
  std::uint16_t count = 0;
};

void destroy(const Node* node) noexcept;

// One step of a path into a value: a key or an index.
struct PathStep {
  constexpr PathStep(std::string_view step_key) : key(step_key), is_key(true) {}
  constexpr PathStep(const char* step_key) : key(step_key), is_key(true) {}
  PathStep(const std::string& step_key) : key(step_key), is_key(true) {}
  template <std::integral I>
  constexpr PathStep(I step_index)
      : index(std::in_range<std::size_t>(step_index) ? static_cast<std::size_t>(step_index)
                                                     : std::numeric_limits<std::size_t>::max()) {}

  std::string_view key;
  std::size_t index = 0;
  bool is_key = false;
};

// "$", then ".key" or "[3]" for each step; keys that are not names as ["odd key"].
std::string path_text(std::span<const PathStep> steps);

template <class T>
concept CharacterType =
    std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

template <class T>
concept Integer = std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool> && !CharacterType<T>;

}  // namespace detail

// A type that is not built into Value but has a Converter.
template <class T>
concept Convertible =
    !std::same_as<T, Value> && !std::same_as<T, detail::Item> && !std::is_arithmetic_v<T> &&
    !std::convertible_to<const T&, std::string_view> && requires(const T& object) {
      { Converter<T>::to_value(object) } -> std::same_as<Value>;
    };

class Value {
 public:
  class Iterator;

  Value() noexcept = default;
  Value(std::nullptr_t) noexcept {}
  template <std::same_as<bool> T>
  Value(T boolean) noexcept : words_{boolean ? 1U : 0U, tag_word(Kind::boolean)} {}
  template <detail::Integer T>
  Value(T integer) : Value(from_integer(integer)) {}
  template <std::floating_point T>
  Value(T number) noexcept : Value(from_double(static_cast<double>(number))) {}
  // Text must be UTF-8. It is checked where it leaves the process (JSON,
  // MessagePack), so that making a Value stays cheap.
  Value(std::string_view text);
  Value(const char* text) : Value(std::string_view(text)) {}
  Value(const std::string& text) : Value(std::string_view(text)) {}
  // A literal; see the head of this file.
  Value(std::initializer_list<detail::Item> items);
  // Standard containers, structs with CLEW_JSON or CLEW_STATE, types with a to_value().
  template <Convertible T>
  Value(const T& object) : Value(Converter<T>::to_value(object)) {}

  Value(const Value& other) noexcept : words_{other.words_[0], other.words_[1]} {
    if (is_heap()) node()->references.fetch_add(1, std::memory_order_relaxed);
  }
  Value(Value&& other) noexcept : words_{other.words_[0], other.words_[1]} {
    other.words_[0] = other.words_[1] = 0;
  }
  Value& operator=(const Value& other) noexcept {
    Value copy(other);
    swap(copy);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    Value taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Value() {
    if (is_heap()) release(node());
  }
  void swap(Value& other) noexcept {
    std::swap(words_[0], other.words_[0]);
    std::swap(words_[1], other.words_[1]);
  }

  static Value bytes(std::string_view data);
  // Any decimal integer, e.g. "18446744073709551616". Throws ValueError on other text.
  static Value integer(std::string_view decimal);
  // Keys of any kind, in order; what a Python dictionary with non-string keys is.
  static Value map(std::span<const std::pair<Value, Value>> entries);

  Kind kind() const noexcept { return static_cast<Kind>(tag() & 0x0F); }
  // kind_name(), or for an extension its type: "datetime.datetime".
  std::string type_name() const;

  bool is_null() const noexcept { return kind() == Kind::null; }
  bool is_bool() const noexcept { return kind() == Kind::boolean; }
  bool is_int() const noexcept { return kind() == Kind::integer; }
  bool is_double() const noexcept { return kind() == Kind::floating; }
  bool is_string() const noexcept { return kind() == Kind::string; }
  bool is_bytes() const noexcept { return kind() == Kind::bytes; }
  bool is_list() const noexcept { return kind() == Kind::list; }
  bool is_object() const noexcept { return kind() == Kind::object; }
  bool is_extension() const noexcept { return kind() == Kind::extension; }

  // The content. Each throws ValueError if the kind is another, except that
  // as_double() also takes integers. Views live as long as this Value.
  bool as_bool() const;
  std::int64_t as_int() const;
  std::uint64_t as_uint() const;
  double as_double() const;
  std::string_view as_string() const& {
    if (!is_string()) throw_kind("string");
    return is_heap() ? heap_text() : inline_text();
  }
  std::string as_string() && { return std::string(std::as_const(*this).as_string()); }
  std::string_view as_bytes() const&;
  std::string as_bytes() && { return std::string(std::as_const(*this).as_bytes()); }
  // The decimal text of an integer or a big integer.
  std::string integer_text() const;
  Extension as_extension() const;
  std::vector<std::pair<Value, Value>> as_map() const;

  // Elements of a list, entries of an object or map; 0 for null.
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  // What is there, or null: never throws, so v["a"]["b"][3] reads what may be absent.
  const Value& operator[](std::string_view key) const& noexcept;
  const Value& operator[](const char* key) const& noexcept {
    return (*this)[std::string_view(key)];
  }
  template <detail::Integer I>
  const Value& operator[](I index) const& noexcept {
    return element_or_null(detail::PathStep(index).index);
  }
  template <class Key>
  Value operator[](const Key& key) && noexcept {
    return std::as_const(*this)[key];
  }

  // What the path leads to; throws ValueError that names the step which failed.
  //   v.at("messages", 3, "id")
  template <class... Steps>
  const Value& at(const Steps&... steps) const& {
    const detail::PathStep path[] = {detail::PathStep(steps)...};
    return at_path(path);
  }
  template <class... Steps>
  Value at(const Steps&... steps) && {
    return std::as_const(*this).at(steps...);
  }

  // What the path leads to, as a C++ value; no steps: this value itself. Throws
  // ValueError with the whole path, also for a mistake inside a nested struct.
  template <class T, class... Steps>
  T get(const Steps&... steps) const;

  // The value of `key`, or nullptr. Nullptr also for what is no object.
  const Value* find(std::string_view key) const noexcept;
  bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }

  // Elements of a list, in order. Null iterates as empty; other kinds throw ValueError.
  Iterator begin() const&;
  Iterator end() const&;
  // Entries of an object, in insertion order: for (auto [key, value] : v.items()).
  ValueItems items() const&;
  // A range over a temporary would dangle: name the value first.
  Iterator begin() && = delete;
  Iterator end() && = delete;
  ValueItems items() && = delete;

  // New versions. Each shares with this one all that did not change; costs are
  // in the size of the change, except erase, which rebuilds. Null counts as
  // empty for append, concat, set and merge. Throw ValueError on a wrong kind
  // or an index past the end.
  Value append(Value element) const&;
  Value append(Value element) &&;
  Value concat(const Value& list) const;
  Value slice(std::size_t begin, std::size_t end) const;  // clipped to the size
  Value set(std::size_t index, Value element) const;
  Value set(std::string_view key, Value value) const&;
  Value set(std::string_view key, Value value) &&;
  Value erase(std::size_t index) const;
  Value erase(std::string_view key) const;  // the same value if the key is not there
  Value merge(const Value& object) const;   // its entries replace or follow ours

  // Equal kind and content; objects compare without regard to order. 1 is not
  // 1.0, and NaN equals NaN: equality answers "would a reader see a difference".
  friend bool operator==(const Value& a, const Value& b) noexcept;
  // A total order over all values, for sorting: first by kind, then by content,
  // objects as if their keys were sorted.
  friend std::strong_ordering operator<=>(const Value& a, const Value& b);
  std::size_t hash() const noexcept;

  // Compact JSON; extensions as their plain content.
  friend std::ostream& operator<<(std::ostream& out, const Value& value);

 private:
  friend struct ValueAccess;

  static constexpr std::uint8_t kHeap = 0xF0;
  static constexpr std::size_t kInlineText = 14;

  static constexpr std::uint64_t tag_word(Kind kind) {
    return static_cast<std::uint64_t>(kind) << 56;
  }
  template <class T>
  static Value from_integer(T integer) {
    if (std::in_range<std::int64_t>(integer)) return from_int(static_cast<std::int64_t>(integer));
    return from_uint(static_cast<std::uint64_t>(integer));
  }
  static Value from_int(std::int64_t integer) noexcept {
    Value value;
    value.words_[0] = static_cast<std::uint64_t>(integer);
    value.words_[1] = tag_word(Kind::integer);
    return value;
  }
  static Value from_uint(std::uint64_t integer);
  static Value from_double(double number) noexcept {
    Value value;
    value.words_[0] = std::bit_cast<std::uint64_t>(number);
    value.words_[1] = tag_word(Kind::floating);
    return value;
  }

  // 16 bytes: the last is the tag (low half the kind; high half the length of
  // inline text, or all ones for a pointer), the others text or a word.
  std::uint8_t tag() const noexcept { return static_cast<std::uint8_t>(words_[1] >> 56); }
  bool is_heap() const noexcept { return tag() >= kHeap; }
  const detail::Node* node() const noexcept {
    return reinterpret_cast<const detail::Node*>(words_[0]);
  }
  std::string_view inline_text() const noexcept {
    return {reinterpret_cast<const char*>(words_), static_cast<std::size_t>(tag() >> 4)};
  }
  std::string_view heap_text() const noexcept;
  static void release(const detail::Node* node) noexcept {
    if (node->references.load(std::memory_order_acquire) == 1 ||
        node->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      detail::destroy(node);
    }
  }

  const Value& element_or_null(std::size_t index) const noexcept;
  const Value& at_path(std::span<const detail::PathStep> path) const;
  [[noreturn]] void throw_kind(std::string_view expected) const;

  std::uint64_t words_[2] = {0, 0};
};

static_assert(sizeof(Value) == 16);

namespace detail {

// Room for a few values, which are made as they come.
template <std::size_t Most>
class FewValues {
 public:
  FewValues() {}
  FewValues(const FewValues& from) : size_(from.size_) {
    std::uninitialized_copy_n(from.values_, size_, values_);
  }
  FewValues(FewValues&& from) noexcept : size_(from.size_) {
    std::uninitialized_move_n(from.values_, size_, values_);
  }
  FewValues& operator=(FewValues from) noexcept {
    std::destroy_n(values_, size_);
    size_ = from.size_;
    std::uninitialized_move_n(from.values_, size_, values_);
    return *this;
  }
  ~FewValues() { std::destroy_n(values_, size_); }

  bool is_full() const { return size_ == Most; }
  void push_back(Value value) { std::construct_at(&values_[size_++], std::move(value)); }
  std::span<Value> all() { return {values_, size_}; }

 private:
  std::size_t size_ = 0;
  union {
    Value values_[Most];
  };
};

// An element of a literal. Braces of the form {"key", value} are kept apart until
// it is known whether they are an entry of an object or a list of two.
struct Item {
  template <class T>
    requires(!std::same_as<std::remove_cvref_t<T>, Item> && std::convertible_to<T &&, Value>)
  Item(T&& element) : value(std::forward<T>(element)) {}
  Item(std::initializer_list<Item> items);

  // What it stands for, which it then no longer holds: a literal is read once.
  Value as_value() const { return is_pair ? list_of_pair() : std::move(value); }

  // The elements of an initializer_list are const, and yet only made to be taken.
  mutable Value value;   // of a pair, its key
  mutable Value second;  // of a pair, its value
  bool is_pair = false;

 private:
  Value list_of_pair() const;
};

}  // namespace detail

// Whether a and b share one representation, or are equal scalars or text: true
// for a copy, never true for unequal values, and O(1) for lists and objects.
bool same(const Value& a, const Value& b) noexcept;

// A list or object of exactly these elements, whatever they look like.
//   list({"a"}) is ["a"], list({{"a", 1}}) is [["a", 1]]; list() is []
//   object({{"a", 1}}) is {"a": 1}; object() is {}
Value list();
Value list(std::initializer_list<detail::Item> elements);
Value object();
Value object(std::initializer_list<std::pair<std::string_view, Value>> entries);

// Collects elements into a list in O(1) each.
//   ListBuilder lines;
//   for (...) lines.push_back(line);
//   Value all = std::move(lines).build();
class ListBuilder {
 public:
  ListBuilder();
  ~ListBuilder();

  void push_back(Value element);
  std::size_t size() const noexcept;
  Value build() &&;

 private:
  std::unique_ptr<detail::VectorEditor> editor_;
};

// Collects entries into an object. Setting a key again replaces its value and
// keeps its place.
class ObjectBuilder {
 public:
  void set(std::string_view key, Value value);
  // The same with a string that may be shared.
  void set_key(Value key, Value value);
  Value build() &&;

 private:
  // Small objects are collected here, without memory of their own; what has
  // more entries moves to the vectors.
  static constexpr std::size_t kFew = 8;

  detail::FewValues<kFew> few_keys_;
  detail::FewValues<kFew> few_values_;
  std::vector<Value> keys_;
  std::vector<Value> values_;
};

// What separates two versions of a list or an object.
struct Difference {
  // List: how many leading elements both share. Object: 0.
  std::size_t kept = 0;
  // List: positions before the end of the shorter one whose elements are not
  // same(). Object: positions in `newer` of entries that are new or changed.
  std::vector<std::size_t> changed;
  // Object: keys of `older` that `newer` lacks.
  std::vector<std::string> erased;
  // Object: whether the other keys come in the same order, and new ones after them.
  bool keeps_order = true;
};

// Compares two versions by what they share: subtrees that both point to are
// skipped, so versions made from each other cost what was changed between them.
// Elements that are equal but not same() count as changed. Throws ValueError
// unless both are lists or both are objects.
Difference difference(const Value& older, const Value& newer);

class Value::Iterator {
 public:
  using value_type = Value;
  using reference = const Value&;
  using pointer = const Value*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::forward_iterator_tag;

  Iterator() = default;
  reference operator*() const { return *current_; }
  pointer operator->() const { return current_; }
  Iterator& operator++() {
    ++index_;
    if (++current_ == chunk_end_) load_chunk();
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

 private:
  friend class Value;
  friend struct ValueAccess;
  void load_chunk();

  const detail::Node* list_ = nullptr;
  const Value* current_ = nullptr;
  const Value* chunk_end_ = nullptr;
  std::size_t index_ = 0;
};

// The entries of an object as a range of (key, value).
class ValueItems {
 public:
  struct Entry {
    std::string_view key;
    const Value& value;
  };

  class Iterator {
   public:
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Iterator(const Value* object, std::size_t index) : object_(object), index_(index) {}
    Entry operator*() const;
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    void operator++(int) { ++index_; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    const Value* object_;
    std::size_t index_;
  };

  explicit ValueItems(const Value& object) : object_(&object), size_(object.size()) {}
  Iterator begin() const { return {object_, 0}; }
  Iterator end() const { return {object_, size_}; }
  std::size_t size() const { return size_; }
  // The i-th entry, in insertion order.
  Entry operator[](std::size_t index) const { return *Iterator(object_, index); }

 private:
  const Value* object_;
  std::size_t size_;
};

}  // namespace clew

template <>
struct std::hash<clew::Value> {
  std::size_t operator()(const clew::Value& value) const noexcept { return value.hash(); }
};

#include <clew/convert.hpp>
