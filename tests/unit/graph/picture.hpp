// Reads an ASCII picture of a graph as a person would: finds the boxes, follows
// the lines, and says what leads where.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace clew::test {

struct Picture {
  std::vector<std::string> boxes;  // their text, from the top left
  // From the text of a box, to that of another, whether the line is dotted.
  std::set<std::tuple<std::string, std::string, bool>> edges;
  std::vector<std::string> problems;  // what makes no sense, with its place
};

Picture read_picture(const std::string& text);

}  // namespace clew::test
