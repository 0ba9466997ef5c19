#include "cli/branch_tree.hpp"

#include <gtest/gtest.h>

namespace clew::cli {
namespace {

std::string drawn(const std::vector<TreeNode>& nodes) {
  std::string text;
  for (const TreeRow& row : branch_tree(nodes)) text += row.lead + nodes[row.node].id + "\n";
  return text;
}

TEST(BranchTree, ALineIsStraight) {
  EXPECT_EQ(drawn({{"a", ""}, {"b", "a"}, {"c", "b"}}),
            "a\n"
            "b\n"
            "c\n");
}

TEST(BranchTree, WhatWasLeftStandsBesideTheWayToTheNewest) {
  EXPECT_EQ(drawn({{"a", ""}, {"b", "a"}, {"c", "b"}, {"d", "b"}, {"e", "d"}, {"f", "b"}}),
            "a\n"
            "b\n"
            "├─c\n"
            "├─d\n"
            "│ e\n"
            "f\n");
}

TEST(BranchTree, BranchesHaveBranches) {
  EXPECT_EQ(drawn({{"a", ""}, {"b", "a"}, {"c", "b"}, {"d", "b"}, {"e", "a"}}),
            "a\n"
            "├─b\n"
            "│ ├─c\n"
            "│ d\n"
            "e\n");
}

TEST(BranchTree, AnOldBranchThatGoesOnIsTheStraightOne) {
  EXPECT_EQ(drawn({{"a", ""}, {"b", "a"}, {"c", "a"}, {"d", "b"}}),
            "a\n"
            "├─c\n"
            "b\n"
            "d\n");
}

TEST(BranchTree, WithoutAParentThereIsARootOfItsOwn) {
  EXPECT_EQ(drawn({{"b", "pruned"}, {"c", "b"}, {"x", "gone"}}),
            "b\n"
            "c\n"
            "x\n");
}

TEST(BranchTree, ALoopOfParentsEnds) {
  EXPECT_EQ(drawn({{"a", "b"}, {"b", "a"}}),
            "a\n"
            "b\n");
}

TEST(BranchTree, LongThreadsTakeNoStack) {
  std::vector<TreeNode> nodes;
  for (int i = 0; i < 100'000; ++i) nodes.push_back({std::to_string(i), std::to_string(i - 1)});
  EXPECT_EQ(branch_tree(nodes).size(), nodes.size());
}

}  // namespace
}  // namespace clew::cli
