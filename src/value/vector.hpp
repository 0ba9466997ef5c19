// The persistent vector behind lists and large objects: a 32-way tree of leaves,
// and a tail leaf of 1 to 32 elements. A new version copies the tail or one path;
// everything else is shared. Up to 32 elements there is no tree, only the tail.
//
// What grows by single elements has full leaves, and an index leads to its leaf
// by shifts alone. Lists that were joined or cut keep the leaves they came with,
// which need only be half full; branches above such leaves know where their
// children end (a relaxed radix tree).
#pragma once

#include <span>
#include <vector>

#include "value/node.hpp"

namespace clew::detail {

struct Vector {
  struct Place {
    const Leaf* leaf;
    std::size_t offset;
  };

  std::size_t size = 0;
  std::size_t tree_size = 0;  // without the tail
  Ref<const Branch> root;
  Ref<const Leaf> tail;

  const Value& operator[](std::size_t index) const {
    const Place place = place_of(index);
    return place.leaf->items()[place.offset];
  }
  // Where element `index` is.
  Place place_of(std::size_t index) const;
  // The node of the tree at `level` (0 is a leaf) that begins with element
  // `index`, or nullptr if none does.
  const Node* node_at(std::size_t index, unsigned level) const;

  Vector with(std::size_t index, Value element) const;
  // Replaces an element. What others hold too is copied first; the rest, which
  // nobody else can see, changes in place.
  void set(std::size_t index, Value element);
};

// Appends many elements to a version, copying its tail once.
class VectorEditor {
 public:
  VectorEditor() = default;
  // Starts empty, with room for the first elements.
  explicit VectorEditor(std::size_t expected);
  explicit VectorEditor(const Vector& base);

  void push_back(Value element);
  void append(const Vector& elements) { append(elements, 0, elements.size); }
  // Appends the elements from `begin` to `end`; whole leaves are shared.
  void append(const Vector& elements, std::size_t begin, std::size_t end);
  // Appends a leaf, as it is where that leaves no leaf of the tree less than half full.
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
  Ref<Leaf> tail_;                      // perhaps shared, and then not to be written to
};

struct TreeList : Container {
  Vector elements;
};

Ref<Leaf> make_leaf(std::size_t capacity);
// How many elements there are in a leaf, or below a branch.
std::size_t node_size(const Node* node);

// The elements of a list node (a Leaf or a TreeList; nullptr is empty).
Vector vector_of(const Node* list);
// A list or map Value of these elements.
Value vector_value(Kind kind, Vector elements);
// A list of the elements of both leaves, which together fit into one.
Value joined_leaves(const Leaf* first, const Leaf* second);

}  // namespace clew::detail
