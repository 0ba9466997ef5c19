// Where an item of a Store belongs: labels from the outermost inwards.
//
//   StoreNamespace memories{user_id, "memories"};
//   for (std::string_view label : memories) ...
//
// Cheap to make and to copy: an item carries its namespace at no cost.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <clew/value.hpp>

namespace clew {

class StoreNamespace {
 public:
  class Iterator;

  StoreNamespace() = default;
  // Throw InvalidNamespaceError if a label contains NUL.
  StoreNamespace(std::initializer_list<std::string_view> labels);
  StoreNamespace(const std::vector<std::string>& labels);

  bool empty() const { return text().empty(); }
  std::size_t size() const;
  std::string_view front() const;                           // of one that is not empty
  std::string_view operator[](std::size_t position) const;  // below size()

  Iterator begin() const;
  Iterator end() const;

  bool starts_with(const StoreNamespace& prefix) const { return text().starts_with(prefix.text()); }
  // The outermost labels, at most all.
  StoreNamespace first(std::size_t count) const;

  // Label by label.
  friend bool operator==(const StoreNamespace& a, const StoreNamespace& b) {
    return a.text() == b.text();
  }
  friend std::strong_ordering operator<=>(const StoreNamespace& a, const StoreNamespace& b) {
    return a.text() <=> b.text();
  }

 private:
  friend std::hash<StoreNamespace>;
  friend void check_labels(const StoreNamespace& ns);

  template <class Labels>
  void assign(const Labels& labels);

  // The labels, each with a NUL behind it: what begins alike compares alike.
  std::string_view text() const {
    return long_text_.is_null() ? std::string_view(text_.data(), size_) : long_text_.as_bytes();
  }

  // A UUID and "memories" have room.
  static constexpr std::size_t kMostHere = 47;
  std::array<char, kMostHere> text_ = {};
  std::uint8_t size_ = 0;
  Value long_text_;  // if there is no room
};

class StoreNamespace::Iterator {
 public:
  using value_type = std::string_view;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag;

  Iterator() = default;

  std::string_view operator*() const { return rest_.substr(0, rest_.find('\0')); }
  Iterator& operator++() {
    rest_.remove_prefix(rest_.find('\0') + 1);
    return *this;
  }
  Iterator operator++(int) {
    const Iterator before = *this;
    ++*this;
    return before;
  }

  // Of one namespace.
  friend bool operator==(const Iterator& a, const Iterator& b) {
    return a.rest_.size() == b.rest_.size();
  }

 private:
  friend StoreNamespace;
  explicit Iterator(std::string_view rest) : rest_(rest) {}

  std::string_view rest_;
};

inline StoreNamespace::Iterator StoreNamespace::begin() const { return Iterator(text()); }
inline StoreNamespace::Iterator StoreNamespace::end() const { return {}; }

// Throws InvalidNamespaceError if a label is empty or contains a dot.
void check_labels(const StoreNamespace& ns);
// The same, and also if there is no label or the first is "langgraph", which is
// reserved: what a store asks of a namespace for items.
void check_namespace(const StoreNamespace& ns);

// Lists of strings.
Value to_value(const StoreNamespace& ns);
void from_value(const Value& labels, StoreNamespace& ns);

}  // namespace clew

template <>
struct std::hash<clew::StoreNamespace> {
  std::size_t operator()(const clew::StoreNamespace& ns) const {
    return std::hash<std::string_view>()(ns.text());
  }
};
