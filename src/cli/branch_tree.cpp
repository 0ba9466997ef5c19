#include "cli/branch_tree.hpp"

#include <algorithm>
#include <unordered_map>

namespace clew::cli {
namespace {

class Drawing {
 public:
  explicit Drawing(const std::vector<TreeNode>& nodes) : children_(nodes.size()) {
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < nodes.size(); ++i) places.emplace(nodes[i].id, i);
    newest_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto parent = places.find(nodes[i].parent_id);
      // Whoever is older than its parent was stored anew; a loop is not a tree.
      const bool is_root = parent == places.end() || parent->second >= i;
      (is_root ? roots_ : children_[parent->second]).push_back(i);
    }
    for (std::size_t i = nodes.size(); i-- > 0;) {
      newest_[i] = i;
      for (const std::size_t child : children_[i])
        newest_[i] = std::max(newest_[i], newest_[child]);
    }
    // The branch that ends last goes on straight.
    const auto by_end = [this](std::size_t a, std::size_t b) { return newest_[a] < newest_[b]; };
    std::sort(roots_.begin(), roots_.end(), by_end);
    for (auto& children : children_) std::sort(children.begin(), children.end(), by_end);
  }

  std::vector<TreeRow> draw() {
    // What is still to draw, the next one last. Threads are too long for recursion.
    for (auto root = roots_.rbegin(); root != roots_.rend(); ++root)
      stack_.push_back({*root, "", ""});
    while (!stack_.empty()) {
      const Pending pending = std::move(stack_.back());
      stack_.pop_back();
      draw(pending);
    }
    return std::move(rows_);
  }

 private:
  struct Pending {
    std::size_t node;
    std::string trunk;  // before all rows of its branch
    std::string fork;   // before its mark, if the branch begins here
  };

  void draw(const Pending& pending) {
    const auto& children = children_[pending.node];
    const std::string lead = pending.fork.empty() ? pending.trunk : pending.fork;
    rows_.push_back(
        {pending.node, lead, pending.trunk + (children.empty() ? "  " : "│ "), children.empty()});
    if (children.empty()) return;
    stack_.push_back({children.back(), pending.trunk, ""});
    for (auto child = children.rbegin() + 1; child != children.rend(); ++child) {
      stack_.push_back({*child, pending.trunk + "│ ", pending.trunk + "├─"});
    }
  }

  std::vector<std::size_t> roots_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::size_t> newest_;  // of the branch that begins at each
  std::vector<Pending> stack_;
  std::vector<TreeRow> rows_;
};

}  // namespace

std::vector<TreeRow> branch_tree(const std::vector<TreeNode>& nodes) {
  return Drawing(nodes).draw();
}

}  // namespace clew::cli
