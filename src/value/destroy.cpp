// Destruction without recursion: nodes that lost their last reference are
// linked through their own memory and taken apart one by one, so a list of
// lists a million deep is dropped in constant stack.
#include "value/object.hpp"

namespace clew::detail {
namespace {

class Undertaker {
 public:
  void take_apart(const Node* node) {
    enqueue(node);
    while (dead_) {
      const Node* next = dead_;
      dead_ = static_cast<const Container*>(next)->next_dead;
      drop_contents(next);
      std::free(const_cast<Node*>(next));
    }
  }

 private:
  // `node` has no references left.
  void enqueue(const Node* node) {
    if (node->type == kText) {
      std::free(const_cast<Node*>(node));
      return;
    }
    auto* container = static_cast<Container*>(const_cast<Node*>(node));
    const bool has_descriptor = node->type == kFlatObject || node->type == kExtension;
    const Node* descriptor = has_descriptor ? container->descriptor : nullptr;
    container->next_dead = dead_;
    dead_ = container;
    if (descriptor) drop(descriptor);
  }

  void drop(const Node* node) {
    if (node->references.load(std::memory_order_acquire) == 1 ||
        node->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      enqueue(node);
    }
  }
  void drop(const Value& value) {
    if (const Node* node = ValueAccess::node(value)) drop(node);
  }
  void drop(std::span<const Value> values) {
    for (const Value& value : values) drop(value);
  }
  void drop(const Vector& vector) {
    if (vector.root) drop(vector.root.get());
    if (vector.tail) drop(vector.tail.get());
  }

  // Gives up what `node` refers to. The members' own destructors never run:
  // their memory is freed as a whole afterwards.
  void drop_contents(const Node* node) {
    switch (static_cast<NodeType>(node->type)) {
      case kText: break;
      case kLeaf: drop({static_cast<const Leaf*>(node)->items(), node->count}); break;
      case kShape: drop({static_cast<const Shape*>(node)->keys(), node->count}); break;
      case kFlatObject: drop({static_cast<const FlatObject*>(node)->values(), node->count}); break;
      case kBranch: drop_children(static_cast<const Branch*>(node)); break;
      case kKeyIndex: drop_children(static_cast<const KeyIndex*>(node)); break;
      case kTreeList: drop(static_cast<const TreeList*>(node)->elements); break;
      case kTreeObject: drop_parts(static_cast<const TreeObject*>(node)); break;
      case kExtensionType: drop_parts(static_cast<const ExtensionType*>(node)); break;
      case kExtension: drop(static_cast<const ExtensionNode*>(node)->payload); break;
      case kHost: drop_parts(static_cast<HostNode*>(const_cast<Node*>(node))); break;
    }
  }

  void drop_children(const Branch* branch) {
    for (std::size_t i = 0; i < branch->count; ++i) drop(branch->children()[i]);
  }
  void drop_children(const KeyIndex* index) {
    for (std::size_t i = 0; i < index->count; ++i) {
      if (is_child(index->entries()[i])) drop(child_of(index->entries()[i]));
    }
  }
  void drop_parts(const TreeObject* object) {
    drop(object->keys);
    drop(object->values);
    if (object->index) drop(object->index.get());
  }
  void drop_parts(const ExtensionType* type) {
    drop(type->module);
    drop(type->name);
    drop(type->method);
  }

  void drop_parts(HostNode* host) {
    drop(host->type_name);
    std::destroy_at(&host->object);
  }

  const Node* dead_ = nullptr;
};

}  // namespace

void destroy(const Node* node) noexcept { Undertaker().take_apart(node); }

}  // namespace clew::detail
