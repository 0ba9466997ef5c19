#include "value/vector.hpp"

#include <algorithm>

namespace clew::detail {
namespace {

// Leaves of the tree have at least so many elements.
constexpr std::size_t kHalf = kWidth / 2;

// The child of `branch` that holds element `index`, which becomes the index
// below that child.
std::size_t find_child(const Branch* branch, std::size_t& index) {
  const unsigned bits = kWidthBits * branch->detail;
  std::size_t position = index >> bits;
  if (!branch->has_ends()) {
    index &= (std::size_t{1} << bits) - 1;
    return position;
  }
  // No child holds more than a full one, so it is this one or a later one.
  const std::size_t* ends = branch->ends();
  while (ends[position] <= index) ++position;
  if (position > 0) index -= ends[position - 1];
  return position;
}

const Node* last_child(const Branch* branch) { return branch->children()[branch->count - 1]; }

Branch* allocate_branch(unsigned level, std::span<const Node* const> children, bool has_ends) {
  const std::size_t ends_bytes = has_ends ? children.size() * sizeof(std::size_t) : 0;
  Branch* branch = allocate<Branch>(kBranch, children.size_bytes() + ends_bytes);
  branch->detail = static_cast<std::uint8_t>(level);
  branch->count = static_cast<std::uint16_t>(children.size());
  branch->number = has_ends ? 1 : 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    retain(children[i]);
    branch->children()[i] = children[i];
  }
  return branch;
}

Ref<const Branch> make_branch(unsigned level, std::span<const Node* const> children) {
  const std::size_t full = std::size_t{1} << (kWidthBits * level);
  std::size_t ends[kWidth];
  std::size_t end = 0;
  for (std::size_t i = 0; i < children.size(); ++i) ends[i] = end += node_size(children[i]);
  const bool has_ends =
      children.size() > 1 && ends[children.size() - 2] != full * (children.size() - 1);
  Branch* branch = allocate_branch(level, children, has_ends);
  if (has_ends) std::copy_n(ends, children.size(), branch->ends());
  return Ref<const Branch>::adopt(branch);
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

Branch* copy_branch(const Branch* branch) {
  Branch* copy =
      allocate_branch(branch->detail, {branch->children(), branch->count}, branch->has_ends());
  if (branch->has_ends()) std::copy_n(branch->ends(), branch->count, copy->ends());
  return copy;
}

// A copy of `branch` with `leaves` behind its last one, all below the same branch
// of the lowest level; nothing if there is no room.
Ref<const Branch> add_leaves(const Branch* branch, std::span<const Node* const> leaves) {
  const Node* children[kWidth];
  std::size_t count = branch->count;
  std::copy_n(branch->children(), count, children);
  if (branch->detail == 1) {
    if (count + leaves.size() > kWidth) return {};
    std::copy(leaves.begin(), leaves.end(), children + count);
    return make_branch(1, {children, count + leaves.size()});
  }
  Ref<const Branch> last = add_leaves(static_cast<const Branch*>(last_child(branch)), leaves);
  if (last) {
    --count;
  } else if (count == kWidth) {
    return {};
  } else {
    last = new_path(branch->detail - 1U, leaves);
  }
  children[count++] = last.get();
  return make_branch(branch->detail, {children, count});
}

// How many leaves fit below the last branch of the lowest level, or below the
// next if that is full.
std::size_t room_for_leaves(const Branch* root) {
  if (!root) return kWidth;
  while (root->detail > 1) root = static_cast<const Branch*>(last_child(root));
  return root->count == kWidth ? kWidth : kWidth - root->count;
}

// The leaf or branch that `slot` owns one reference to, to be written to: a copy
// takes its place if others hold it too.
Node* own(const Node*& slot) {
  if (!is_unique(slot)) {
    const Node* shared = slot;
    if (shared->type == kLeaf) {
      const auto* leaf = static_cast<const Leaf*>(shared);
      slot = copy_leaf(leaf, round_capacity(leaf->count)).take();
    } else {
      slot = copy_branch(static_cast<const Branch*>(shared));
    }
    release(shared);
  }
  return const_cast<Node*>(slot);
}

}  // namespace

Ref<Leaf> make_leaf(std::size_t capacity) {
  Leaf* leaf = allocate<Leaf>(kLeaf, capacity * sizeof(Value));
  leaf->detail = static_cast<std::uint8_t>(capacity);
  return Ref<Leaf>::adopt(leaf);
}

std::size_t node_size(const Node* node) {
  std::size_t size = 0;
  while (node->type == kBranch) {
    const auto* branch = static_cast<const Branch*>(node);
    if (branch->has_ends()) return size + branch->ends()[branch->count - 1];
    size += (branch->count - std::size_t{1}) << (kWidthBits * branch->detail);
    node = last_child(branch);
  }
  return size + node->count;
}

Vector::Place Vector::place_of(std::size_t index) const {
  if (index >= tree_size) return {tail.get(), index - tree_size};
  const Node* node = root.get();
  for (unsigned level = root->detail; level > 0; --level) {
    const auto* branch = static_cast<const Branch*>(node);
    node = branch->children()[find_child(branch, index)];
  }
  return {static_cast<const Leaf*>(node), index};
}

const Node* Vector::node_at(std::size_t index, unsigned level) const {
  if (index >= tree_size || level > root->detail) return nullptr;
  const Node* node = root.get();
  for (unsigned l = root->detail; l > level; --l) {
    const auto* branch = static_cast<const Branch*>(node);
    node = branch->children()[find_child(branch, index)];
  }
  return index == 0 ? node : nullptr;
}

Vector Vector::with(std::size_t index, Value element) const {
  Vector result = *this;
  result.set(index, std::move(element));
  return result;
}

void Vector::set(std::size_t index, Value element) {
  if (index >= tree_size) {
    if (!is_unique(tail.get())) {
      tail = Ref<const Leaf>::adopt(copy_leaf(tail.get(), round_capacity(tail->count)).take());
    }
    const_cast<Leaf*>(tail.get())->items()[index - tree_size] = std::move(element);
    return;
  }
  if (!is_unique(root.get())) root = Ref<const Branch>::adopt(copy_branch(root.get()));
  Node* node = const_cast<Branch*>(root.get());
  while (node->type == kBranch) {
    auto* branch = static_cast<Branch*>(node);
    const std::size_t position = find_child(branch, index);
    node = own(branch->children()[position]);
  }
  static_cast<Leaf*>(node)->items()[index] = std::move(element);
}

VectorEditor::VectorEditor(std::size_t expected) {
  if (expected > 0) tail_ = make_leaf(round_capacity(expected));
}

VectorEditor::VectorEditor(const Vector& base)
    : size_(base.size),
      root_(base.root),
      tail_(Ref<Leaf>::share(const_cast<Leaf*>(base.tail.get()))) {}

// Room in the tail for one more element, or for `expected` if that many fit.
void VectorEditor::make_room(std::size_t expected) {
  if (!tail_) {
    tail_ = make_leaf(round_capacity(expected));
  } else if (tail_->count == kWidth) {
    push_tail_into_tree();
    tail_ = make_leaf(kWidth);
  } else if (tail_->count == tail_->detail || !is_unique(tail_.get())) {
    tail_ = copy_leaf(tail_.get(), round_capacity(tail_->count + expected));
  }
}

void VectorEditor::push_back(Value element) {
  make_room(1);
  append_to_leaf(tail_.get(), std::move(element));
  ++size_;
}

void VectorEditor::push_leaf(const Leaf* leaf) {
  const std::span<const Value> elements(leaf->items(), leaf->count);
  const std::size_t before = tail_ ? tail_->count : 0;
  if (before > 0 && before + elements.size() <= kWidth) return append(elements);
  if (before > 0 && before < kHalf) {
    // Both halves are then large enough for the leaves that follow to be shared.
    append(elements.first(kHalf - before));
    push_tail_into_tree();
    return append(elements.subspan(kHalf - before));
  }
  if (before > 0) push_tail_into_tree();
  tail_ = Ref<Leaf>::share(const_cast<Leaf*>(leaf));
  size_ += leaf->count;
}

void VectorEditor::append(const Vector& elements, std::size_t begin, std::size_t end) {
  while (begin < end) {
    const auto [leaf, offset] = elements.place_of(begin);
    const std::size_t count = std::min(leaf->count - offset, end - begin);
    // A short list is copied: leaves stay full where that costs no more.
    if (count == leaf->count && elements.root) {
      push_leaf(leaf);
    } else {
      append(std::span(leaf->items() + offset, count));
    }
    begin += count;
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
  if (full_leaves_.empty()) full_leaves_.reserve(kWidth);
  full_leaves_.push_back(std::move(tail_));
  if (full_leaves_.size() == room_for_leaves(root_.get())) flush_leaves();
}

void VectorEditor::flush_leaves() {
  if (full_leaves_.empty()) return;
  const Node* leaves[kWidth];
  std::transform(full_leaves_.begin(), full_leaves_.end(), leaves,
                 [](const Ref<Leaf>& leaf) { return leaf.get(); });
  const std::span<const Node* const> added(leaves, full_leaves_.size());
  Ref<const Branch> root = root_ ? add_leaves(root_.get(), added) : make_branch(1, added);
  if (!root) {
    const Ref<const Branch> path = new_path(root_->detail, added);
    const Node* children[] = {root_.get(), path.get()};
    root = make_branch(root_->detail + 1U, children);
  }
  root_ = std::move(root);
  full_leaves_.clear();
}

Vector VectorEditor::finish() && {
  flush_leaves();
  const std::size_t in_tail = tail_ ? tail_->count : 0;
  return {size_, size_ - in_tail, std::move(root_),
          Ref<const Leaf>::adopt(std::move(tail_).take())};
}

Vector vector_of(const Node* list) {
  if (!list) return {};
  if (list->type == kTreeList) return static_cast<const TreeList*>(list)->elements;
  return {list->count, 0, {}, Ref<const Leaf>::share(static_cast<const Leaf*>(list))};
}

Value joined_leaves(const Leaf* first, const Leaf* second) {
  Ref<Leaf> joined = copy_leaf(first, round_capacity(first->count + std::size_t{second->count}));
  std::uninitialized_copy_n(second->items(), second->count, joined->items() + joined->count);
  joined->count = static_cast<std::uint16_t>(joined->count + second->count);
  return ValueAccess::adopt(Kind::list, std::move(joined).take());
}

Value vector_value(Kind kind, Vector elements) {
  if (elements.size == 0) return ValueAccess::empty(kind);
  if (!elements.root) return ValueAccess::adopt(kind, std::move(elements.tail).take());
  TreeList* list = allocate<TreeList>(kTreeList, 0);
  list->elements = std::move(elements);
  return ValueAccess::adopt(kind, list);
}

}  // namespace clew::detail
