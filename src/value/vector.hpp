// The persistent vector behind lists and large objects: a 32-way radix tree of
// full leaves, and a tail leaf of 1 to 32 elements. A new version copies the
// tail or one path; everything else is shared. Up to 32 elements there is no
// tree, only the tail.
#pragma once

#include <span>
#include <vector>

#include "value/node.hpp"

namespace clew::detail {

struct Vector {
  std::size_t size = 0;
  Ref<const Branch> root;
  Ref<const Leaf> tail;

  std::size_t tail_offset() const { return size == 0 ? 0 : (size - 1) & ~(kWidth - 1); }
  const Value& operator[](std::size_t index) const {
    return leaf_for(index)->items()[index & (kWidth - 1)];
  }
  // The leaf that holds element `index`.
  const Leaf* leaf_for(std::size_t index) const;
  // The node that covers leaves from `leaf_index` on at `level` (0 is a leaf),
  // or nullptr if that reaches into the tail or past the tree's height.
  const Node* node_at(std::size_t leaf_index, unsigned level) const;

  Vector with(std::size_t index, Value element) const;
};

// Appends many elements to a version, copying its tail once.
class VectorEditor {
 public:
  VectorEditor() = default;
  // Starts empty, with room for the first elements.
  explicit VectorEditor(std::size_t expected);
  explicit VectorEditor(const Vector& base, std::size_t expected = 1);

  void push_back(Value element);
  void append(const Vector& elements);
  // Adds a whole leaf of 32 without copying; only where the size is a multiple of 32.
  void push_leaf(const Leaf* leaf);
  std::size_t size() const { return size_; }
  Vector finish() &&;

 private:
  void append(std::span<const Value> elements);
  void make_room(std::size_t expected);
  void push_tail_into_tree();
  void flush_leaves();

  std::size_t size_ = 0;
  Ref<const Branch> root_;
  std::vector<Ref<Leaf>> full_leaves_;  // behind what is in the tree
  Ref<Leaf> tail_;
};

struct TreeList : Container {
  Vector elements;
};

Ref<Leaf> make_leaf(std::size_t capacity);
Ref<const Branch> make_branch(unsigned level, std::span<const Node* const> children);

// The elements of a list node (a Leaf or a TreeList; nullptr is empty).
Vector vector_of(const Node* list);
// A list or map Value of these elements.
Value vector_value(Kind kind, Vector elements);

}  // namespace clew::detail
