// What a Value points to: reference-counted, immutable nodes of a few layouts.
// Each begins with detail::Node; the fields after it and what trails it in the
// same allocation depend on the type:
//
//   Text           size, characters                         string, bytes, big_integer
//   Leaf           Value[count]                             a list of up to 32, or a part of one
//   Branch         Node*[count], perhaps size_t[count]      inner node of a large list
//   TreeList       Vector                                   a list of more than 32
//   Shape          Value[count] keys, position table        the keys of small objects, shared
//   FlatObject     Shape*, Value[count]                     an object of up to 32 entries
//   TreeObject     Vector keys, Vector values, KeyIndex*    an object of more than 32
//   KeyIndex       entries[count]                           hash trie: key to position
//   ExtensionType  module, name, method                     the type of extensions, shared
//   ExtensionNode  ExtensionType*, payload
//   HostNode       shared_ptr                               a wrapped C++ object
#pragma once

#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <typeinfo>

#include <clew/extension.hpp>
#include <clew/value.hpp>

static_assert(std::endian::native == std::endian::little,
              "the inline text of a Value puts its tag in the last byte of a little-endian word");

namespace clew {

// The one door from the implementation into Value's representation.
struct ValueAccess {
  static constexpr std::size_t kInlineText = Value::kInlineText;

  static const detail::Node* node(const Value& value) noexcept {
    return value.is_heap() ? value.node() : nullptr;
  }
  // Takes over one reference to `node`.
  static Value adopt(Kind kind, const detail::Node* node) noexcept {
    Value value;
    value.words_[0] = reinterpret_cast<std::uint64_t>(node);
    value.words_[1] = Value::tag_word(kind) | static_cast<std::uint64_t>(Value::kHeap) << 56;
    return value;
  }
  // A list, object or map without elements.
  static Value empty(Kind kind) noexcept {
    Value value;
    value.words_[1] = Value::tag_word(kind);
    return value;
  }
  static inline Value text(Kind kind, std::string_view text);
  static inline std::string_view text_of(const Value& value) noexcept;
  static const std::uint64_t* words(const Value& value) noexcept { return value.words_; }
  static bool is_heap(const Value& value) noexcept { return value.is_heap(); }
  static bool same_words(const Value& a, const Value& b) noexcept {
    return a.words_[0] == b.words_[0] && a.words_[1] == b.words_[1];
  }
  static std::uint64_t word(const Value& value) noexcept { return value.words_[0]; }
  static Value::Iterator iterator(const detail::Node* list, std::size_t index);
  [[noreturn]] static void throw_kind(const Value& value, std::string_view expected) {
    value.throw_kind(expected);
  }
};

namespace detail {

enum NodeType : std::uint8_t {
  kText,
  kLeaf,
  kBranch,
  kTreeList,
  kShape,
  kFlatObject,
  kTreeObject,
  kKeyIndex,
  kExtensionType,
  kExtension,
  kHost,
};

// Lists and objects up to this size are one flat node; larger ones are trees
// of this width.
inline constexpr std::size_t kWidth = 32;
inline constexpr unsigned kWidthBits = 5;

// A node that refers to others. The slot holds what can be given up before the
// node itself dies; it then links the nodes that wait to be destroyed, which is
// why dropping a value never recurses.
struct Container : Node {
  union {
    const Node* descriptor;  // the Shape of a FlatObject, the type of an extension
    std::uint64_t number;
    const Node* next_dead;
  };
};

struct Text : Node {
  std::uint64_t size;

  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  char* data() { return reinterpret_cast<char*>(this + 1); }
};

// The elements that trail a node.
template <class Element, class NodeT>
Element* trailing(NodeT* node) {
  return reinterpret_cast<Element*>(node + 1);
}

struct Leaf : Container {  // Node::detail is the capacity
  const Value* items() const { return trailing<const Value>(this); }
  Value* items() { return trailing<Value>(this); }
};

struct Branch : Container {  // Node::detail is the level: 1 above leaves; number is has_ends()
  const Node* const* children() const { return trailing<const Node* const>(this); }
  const Node** children() { return trailing<const Node*>(this); }
  // Whether a child before the last is not full. Then the place of an element
  // does not follow from its index, and ends() says behind how many elements
  // each child ends.
  bool has_ends() const { return number != 0; }
  const std::size_t* ends() const {
    return reinterpret_cast<const std::size_t*>(children() + count);
  }
  std::size_t* ends() { return reinterpret_cast<std::size_t*>(children() + count); }
};

inline void retain(const Node* node) noexcept {
  node->references.fetch_add(1, std::memory_order_relaxed);
}
inline void release(const Node* node) noexcept {
  if (node->references.load(std::memory_order_acquire) == 1 ||
      node->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    destroy(node);
  }
}
// Whether the caller holds the only reference and may therefore write.
inline bool is_unique(const Node* node) noexcept {
  return node->references.load(std::memory_order_acquire) == 1;
}

// An owning pointer to a node.
template <class T>
class Ref {
 public:
  Ref() = default;
  static Ref adopt(T* node) {
    Ref ref;
    ref.node_ = node;
    return ref;
  }
  static Ref share(T* node) {
    if (node) retain(node);
    return adopt(node);
  }
  Ref(const Ref& other) : node_(other.node_) {
    if (node_) retain(node_);
  }
  Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Ref() {
    if (node_) release(node_);
  }
  T* get() const { return node_; }
  T* operator->() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  T* take() && { return std::exchange(node_, nullptr); }

 private:
  T* node_ = nullptr;
};

// Raw memory for a node and what trails it, with the header written.
template <class T>
T* allocate(NodeType type, std::size_t trailing_bytes) {
  void* memory = std::malloc(sizeof(T) + trailing_bytes);
  if (!memory) throw std::bad_alloc();
  T* node = new (memory) T();
  node->type = type;
  return node;
}

struct ExtensionType : Container {  // number is the hash
  Value module;
  Value name;
  Value method;
  ExtensionCode code;
  bool is_raw;
};

struct ExtensionNode : Container {
  Value payload;

  const ExtensionType* extension_type() const {
    return static_cast<const ExtensionType*>(static_cast<const Node*>(descriptor));
  }
};

struct HostNode : Container {
  std::shared_ptr<const void> object;
  const std::type_info* object_type;
  Value type_name;
};

}  // namespace detail

inline Value ValueAccess::text(Kind kind, std::string_view text) {
  if (text.size() <= kInlineText) {
    Value value;
    const char* data = text.data();
    const std::size_t size = text.size();
    // Two overlapping loads instead of a call to memcpy.
    if (size >= 8) {
      std::uint64_t tail;
      std::memcpy(&value.words_[0], data, 8);
      std::memcpy(&tail, data + size - 8, 8);
      if (size > 8) value.words_[1] = tail >> (8 * (16 - size));
    } else if (size >= 4) {
      std::uint32_t low, high;
      std::memcpy(&low, data, 4);
      std::memcpy(&high, data + size - 4, 4);
      value.words_[0] = low | static_cast<std::uint64_t>(high) << (8 * (size - 4));
    } else if (size > 0) {
      std::uint64_t word = static_cast<unsigned char>(data[0]);
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(data[size / 2]))
              << (8 * (size / 2));
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(data[size - 1]))
              << (8 * (size - 1));
      value.words_[0] = word;
    }
    value.words_[1] |= (static_cast<std::uint64_t>(kind) | size << 4) << 56;
    return value;
  }
  auto* node = detail::allocate<detail::Text>(detail::kText, text.size());
  node->size = text.size();
  std::memcpy(node->data(), text.data(), text.size());
  return adopt(kind, node);
}

inline std::string_view ValueAccess::text_of(const Value& value) noexcept {
  if (value.is_heap()) {
    const auto* text = static_cast<const detail::Text*>(value.node());
    return {text->data(), text->size};
  }
  return value.inline_text();
}

}  // namespace clew
