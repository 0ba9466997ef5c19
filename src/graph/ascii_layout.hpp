// The steps from a graph to a picture of boxes and lines in ASCII:
//
//   arrange()   which row each box is in, and which edges share a line
//   order()     who stands left of whom in a row, so that few lines cross
//   place()     where exactly
//   route()     how lines get from one row to the next
//
// Lines run down the columns of the rows they pass and turn only between rows,
// so none ever meets a box. Columns are counted in pairs of characters: whatever
// stands in neighbouring columns still has a blank between it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <clew/drawing.hpp>

namespace clew::ascii {

enum class Stroke { none, solid, dotted };

// Edges that are drawn as one connected line, from each of some boxes to each of
// some others. Since it joins no others, a reader can tell what leads where.
struct Line {
  std::vector<std::size_t> upper;  // the boxes above
  std::vector<std::size_t> lower;  // and below
  Stroke stroke = Stroke::solid;
  bool is_upward = false;  // a way back: the boxes below lead to those above
};

// A box, or a line that passes through a row.
struct Place {
  bool is_box = false;
  std::string text = {};       // of a box
  Stroke loop = Stroke::none;  // an edge from a box to itself
  int left_reach = 0;          // columns from the middle to the border, or the loop
  int right_reach = 0;
  int x = 0;  // the column of the middle
};

// Where a line meets a place.
struct Terminal {
  std::size_t place = 0;
  int x = 0;
};

// The part of a line between one row and the next.
struct Net {
  std::size_t line = 0;
  std::vector<Terminal> upper;
  std::vector<Terminal> lower;
};

struct Layout {
  std::vector<Line> lines;
  std::vector<Place> places;                   // one for each node first, in its order
  std::vector<std::vector<std::size_t>> rows;  // places from left to right
  std::vector<std::vector<Net>> gaps;          // gaps[i] is below rows[i]
};

// Throws GraphError if an edge has an end that is no node.
Layout arrange(const DrawableGraph& graph);
void order(Layout& layout);
void place(Layout& layout);

// A horizontal piece of line between two rows, with the verticals that end in it.
struct Stretch {
  std::size_t line = 0;
  std::vector<int> upper;  // columns of verticals from above
  std::vector<int> lower;  // and to below
  int track = 0;           // rows from the first to this

  // If two lines are in each other's way, one is cut in two: the verticals
  // between its stretches end in tracks instead of the rows above and below.
  int upper_track = -1;
  int lower_track = -1;

  bool is_straight() const { return upper == lower && upper.size() == 1; }
};

struct Route {
  std::vector<Stretch> stretches;
  int tracks = 0;
};

// Decides where the lines of a gap meet its boxes, and how they run.
Route route(const Layout& layout, std::vector<Net>& gap);

// Positions as close to the desired ones as may be, in order, each by at least
// separations[i] after the one before it.
std::vector<double> spread(const std::vector<double>& desired, const std::vector<double>& weights,
                           const std::vector<int>& separations);

}  // namespace clew::ascii
