#include "value/vector.hpp"

#include <algorithm>

namespace clew::detail {
namespace {

constexpr std::size_t kMask = kWidth - 1;

std::size_t child_position(std::size_t leaf_index, unsigned level) {
  return (leaf_index >> (kWidthBits * (level - 1))) & kMask;
}

std::size_t round_capacity(std::size_t count) {
  return std::min(kWidth, std::bit_ceil(std::max<std::size_t>(count, 4)));
}

Ref<Leaf> copy_leaf(const Leaf* from, std::size_t capacity) {
  Ref<Leaf> leaf = make_leaf(capacity);
  std::uninitialized_copy_n(from->items(), from->count, leaf->items());
  leaf->count = from->count;
  return leaf;
}

void append_to_leaf(Leaf* leaf, Value element) {
  new (leaf->items() + leaf->count) Value(std::move(element));
  ++leaf->count;
}

// A chain of single-child branches from `level` down to one that holds `leaves`.
Ref<const Branch> new_path(unsigned level, std::span<const Node* const> leaves) {
  Ref<const Branch> branch = make_branch(1, leaves);
  for (unsigned l = 2; l <= level; ++l) {
    const Node* child = branch.get();
    branch = make_branch(l, {&child, 1});
  }
  return branch;
}

// A copy of `branch` with one child replaced or appended.
Ref<const Branch> with_child(const Branch* branch, std::size_t position, const Node* child) {
  const Node* children[kWidth];
  std::copy_n(branch->children(), branch->count, children);
  children[position] = child;
  return make_branch(branch->detail,
                     {children, std::max<std::size_t>(branch->count, position + 1)});
}

// A copy of `branch` with leaves added from `leaf_index` on, all below the same
// branch of the lowest level.
Ref<const Branch> insert_leaves(const Branch* branch, std::size_t leaf_index,
                                std::span<const Node* const> leaves) {
  const unsigned level = branch->detail;
  const std::size_t position = child_position(leaf_index, level);
  if (level == 1) {
    const Node* children[kWidth];
    std::copy_n(branch->children(), position, children);
    std::copy(leaves.begin(), leaves.end(), children + position);
    return make_branch(1, {children, position + leaves.size()});
  }
  if (position == branch->count) {
    return with_child(branch, position, new_path(level - 1, leaves).get());
  }
  const auto* child = static_cast<const Branch*>(branch->children()[position]);
  return with_child(branch, position, insert_leaves(child, leaf_index, leaves).get());
}

Ref<const Branch> replace_leaf(const Branch* branch, std::size_t leaf_index, const Node* leaf) {
  const unsigned level = branch->detail;
  const std::size_t position = child_position(leaf_index, level);
  if (level == 1) return with_child(branch, position, leaf);
  const auto* child = static_cast<const Branch*>(branch->children()[position]);
  return with_child(branch, position, replace_leaf(child, leaf_index, leaf).get());
}

std::size_t leaves_below(unsigned level) { return std::size_t{1} << (kWidthBits * level); }

}  // namespace

Ref<Leaf> make_leaf(std::size_t capacity) {
  Leaf* leaf = allocate<Leaf>(kLeaf, capacity * sizeof(Value));
  leaf->detail = static_cast<std::uint8_t>(capacity);
  return Ref<Leaf>::adopt(leaf);
}

Ref<const Branch> make_branch(unsigned level, std::span<const Node* const> children) {
  Branch* branch = allocate<Branch>(kBranch, children.size_bytes());
  branch->detail = static_cast<std::uint8_t>(level);
  branch->count = static_cast<std::uint16_t>(children.size());
  for (std::size_t i = 0; i < children.size(); ++i) {
    retain(children[i]);
    branch->children()[i] = children[i];
  }
  return Ref<const Branch>::adopt(branch);
}

const Leaf* Vector::leaf_for(std::size_t index) const {
  if (index >= tail_offset()) return tail.get();
  const Node* node = root.get();
  for (unsigned level = root->detail; level > 0; --level) {
    node = static_cast<const Branch*>(node)->children()[child_position(index >> kWidthBits, level)];
  }
  return static_cast<const Leaf*>(node);
}

const Node* Vector::node_at(std::size_t leaf_index, unsigned level) const {
  const std::size_t tree_leaves = tail_offset() >> kWidthBits;
  if (leaf_index + leaves_below(level) > tree_leaves || level > root->detail) return nullptr;
  const Node* node = root.get();
  for (unsigned l = root->detail; l > level; --l) {
    node = static_cast<const Branch*>(node)->children()[child_position(leaf_index, l)];
  }
  return node;
}

Vector Vector::with(std::size_t index, Value element) const {
  const Leaf* old_leaf = leaf_for(index);
  Ref<Leaf> leaf = copy_leaf(old_leaf, round_capacity(old_leaf->count));
  leaf->items()[index & kMask] = std::move(element);
  Vector result = *this;
  if (index >= tail_offset()) {
    result.tail = Ref<const Leaf>::share(leaf.get());
  } else {
    result.root = replace_leaf(root.get(), index >> kWidthBits, leaf.get());
  }
  return result;
}

VectorEditor::VectorEditor(std::size_t expected) {
  if (expected > 0) tail_ = make_leaf(round_capacity(expected));
}

VectorEditor::VectorEditor(const Vector& base, std::size_t expected)
    : size_(base.size), root_(base.root) {
  if (!base.tail) return;
  tail_ = copy_leaf(base.tail.get(), round_capacity(base.tail->count + expected));
}

// Room in the tail for one more element, or for `expected` if that many fit.
void VectorEditor::make_room(std::size_t expected) {
  if (!tail_) {
    tail_ = make_leaf(round_capacity(expected));
  } else if (tail_->count == kWidth) {
    push_tail_into_tree();
    tail_ = make_leaf(kWidth);
  } else if (tail_->count == tail_->detail) {
    tail_ = copy_leaf(tail_.get(), round_capacity(tail_->count + expected));
  }
}

void VectorEditor::push_back(Value element) {
  make_room(1);
  append_to_leaf(tail_.get(), std::move(element));
  ++size_;
}

void VectorEditor::push_leaf(const Leaf* leaf) {
  if (tail_) push_tail_into_tree();
  // A full tail is never written to, so sharing it as ours is safe.
  tail_ = Ref<Leaf>::share(const_cast<Leaf*>(leaf));
  size_ += leaf->count;
}

void VectorEditor::append(const Vector& elements) {
  for (std::size_t i = 0; i < elements.size;) {
    const Leaf* leaf = elements.leaf_for(i);
    const std::size_t offset = i & kMask;
    append(std::span(leaf->items() + offset, leaf->count - offset));
    i += leaf->count - offset;
  }
}

void VectorEditor::append(std::span<const Value> elements) {
  while (!elements.empty()) {
    make_room(elements.size());
    const std::size_t room = static_cast<std::size_t>(tail_->detail) - tail_->count;
    const std::size_t taken = std::min(room, elements.size());
    std::uninitialized_copy_n(elements.begin(), taken, tail_->items() + tail_->count);
    tail_->count = static_cast<std::uint16_t>(tail_->count + taken);
    size_ += taken;
    elements = elements.subspan(taken);
  }
}

// Leaves enter the tree a whole branch at a time.
void VectorEditor::push_tail_into_tree() {
  full_leaves_.push_back(std::move(tail_));
  if (((size_ >> kWidthBits) & kMask) == 0) flush_leaves();
}

void VectorEditor::flush_leaves() {
  if (full_leaves_.empty()) return;
  const Node* leaves[kWidth];
  std::transform(full_leaves_.begin(), full_leaves_.end(), leaves,
                 [](const Ref<Leaf>& leaf) { return leaf.get(); });
  const std::span<const Node* const> added(leaves, full_leaves_.size());
  // The tail, if there is one again, is not in the tree.
  const std::size_t in_tree = (size_ - (tail_ ? tail_->count : 0)) >> kWidthBits;
  const std::size_t leaf_index = in_tree - added.size();
  if (!root_) {
    root_ = make_branch(1, added);
  } else if (leaf_index == leaves_below(root_->detail)) {
    const Ref<const Branch> path = new_path(root_->detail, added);
    const Node* children[] = {root_.get(), path.get()};
    root_ = make_branch(root_->detail + 1U, children);
  } else {
    root_ = insert_leaves(root_.get(), leaf_index, added);
  }
  full_leaves_.clear();
}

Vector VectorEditor::finish() && {
  flush_leaves();
  return {size_, std::move(root_), Ref<const Leaf>::adopt(std::move(tail_).take())};
}

Vector vector_of(const Node* list) {
  if (!list) return {};
  if (list->type == kTreeList) return static_cast<const TreeList*>(list)->elements;
  return {list->count, {}, Ref<const Leaf>::share(static_cast<const Leaf*>(list))};
}

Value vector_value(Kind kind, Vector elements) {
  if (elements.size == 0) return ValueAccess::empty(kind);
  if (!elements.root) return ValueAccess::adopt(kind, std::move(elements.tail).take());
  TreeList* list = allocate<TreeList>(kTreeList, 0);
  list->elements = std::move(elements);
  return ValueAccess::adopt(kind, list);
}

}  // namespace clew::detail
