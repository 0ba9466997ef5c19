// How the checkpoints of a thread are drawn as a tree.
//
//   ○        the way to the newest checkpoint is one straight line,
//   ├─○      what was left for it stands beside it, before it goes on,
//   │ ○
//   ○
//   ●        and the newest comes last
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace clew::cli {

struct TreeNode {
  std::string id;
  std::string parent_id;
};

struct TreeRow {
  std::size_t node;    // its place in what was given
  std::string lead;    // what stands before its mark: "│ ├─"
  std::string beside;  // what stands there in further lines of the row: "│ │ "
  bool ends;           // nothing follows it
};

// `nodes` from the oldest to the newest; one whose parent is not among them is a root.
std::vector<TreeRow> branch_tree(const std::vector<TreeNode>& nodes);

}  // namespace clew::cli
