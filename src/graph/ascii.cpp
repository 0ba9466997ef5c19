// Graphs as pictures of ASCII characters.
#include <algorithm>

#include <clew/drawing.hpp>

#include "graph/ascii_layout.hpp"

namespace clew {
namespace ascii {
namespace {

class Canvas {
 public:
  void put(int row, int column, char character) {
    const auto line = static_cast<std::size_t>(row);
    const auto at = static_cast<std::size_t>(column);
    if (lines_.size() <= line) lines_.resize(line + 1);
    if (lines_[line].size() <= at) lines_[line].resize(at + 1, ' ');
    lines_[line][at] = character;
  }

  void write(int row, int column, std::string_view text) {
    for (char character : text) put(row, column++, character);
  }

  std::string text() const {
    std::string result;
    for (const std::string& line : lines_) result += line + '\n';
    return result;
  }

 private:
  std::vector<std::string> lines_;
};

char vertical(Stroke stroke) { return stroke == Stroke::dotted ? ':' : '|'; }
char horizontal(Stroke stroke) { return stroke == Stroke::dotted ? '.' : '-'; }

// A column of the layout is two characters wide.
int characters(int columns) { return 2 * columns; }

int height_of(const Place& place) { return place.loop == Stroke::none ? 3 : 4; }

class Picture {
 public:
  explicit Picture(Layout layout) : layout_(std::move(layout)) {}

  std::string draw() && {
    int top = 0;
    for (std::size_t row = 0; row < layout_.rows.size(); ++row) {
      std::vector<Net>& gap = layout_.gaps[row];
      const Route ways = route(layout_, gap);
      int height = 0;
      for (std::size_t place : layout_.rows[row]) {
        height = std::max(height, height_of(layout_.places[place]));
        if (layout_.places[place].is_box) draw_box(layout_.places[place], top);
      }
      const int gap_top = top + height;
      const int next_top = gap_top + ways.tracks + 2;
      draw_passing_lines(gap, top, gap_top);
      draw_stretches(ways, gap_top, next_top);
      draw_arrows(gap, top, next_top);
      top = next_top;
    }
    return canvas_.text();
  }

 private:
  Stroke stroke_of(std::size_t line) const { return layout_.lines[line].stroke; }

  // Up to, but not including, the row `to`.
  void draw_vertical(int column, int from, int to, Stroke stroke) {
    for (int row = from; row < to; ++row) canvas_.put(row, characters(column), vertical(stroke));
  }

  void draw_box(const Place& box, int top) {
    const int left = characters(box.x - box.left_reach);
    const int right = characters(box.x + box.left_reach);
    const int bottom = top + height_of(box) - 1;
    const auto inside = static_cast<std::size_t>(right - left - 1);
    for (int row = top; row <= bottom; ++row) {
      const bool is_border = row == top || row == bottom;
      canvas_.put(row, left, is_border ? '+' : '|');
      canvas_.write(row, left + 1, std::string(inside, is_border ? '-' : ' '));
      canvas_.put(row, right, is_border ? '+' : '|');
    }
    const auto margin = static_cast<int>((inside - box.text.size()) / 2);
    canvas_.write(top + 1, left + 1 + margin, box.text);
    if (box.loop == Stroke::none) return;
    const std::string line(3, horizontal(box.loop));
    canvas_.write(top + 1, right + 1, "<" + line.substr(1) + "+");
    canvas_.write(top + 2, right + 1, line + "+");
  }

  // Lines through the row, and those that leave a box which is lower than others.
  void draw_passing_lines(const std::vector<Net>& gap, int top, int gap_top) {
    for (const Net& net : gap) {
      for (const Terminal& terminal : net.upper) {
        draw_vertical(terminal.x, below(terminal, top), gap_top, stroke_of(net.line));
      }
    }
  }

  int below(const Terminal& terminal, int top) const {
    const Place& place = layout_.places[terminal.place];
    return place.is_box ? top + height_of(place) : top;
  }

  // Where lines cross, the vertical one is seen.
  void draw_stretches(const Route& ways, int gap_top, int next_top) {
    const auto row_of = [&](int track) { return gap_top + 1 + track; };
    for (const Stretch& stretch : ways.stretches) {
      if (!stretch.is_straight()) draw_horizontal(stretch, row_of(stretch.track));
    }
    for (const Stretch& stretch : ways.stretches) {
      const Stroke stroke = stroke_of(stretch.line);
      const int from = stretch.upper_track < 0 ? gap_top : row_of(stretch.upper_track);
      const int to = stretch.lower_track < 0 ? next_top : row_of(stretch.lower_track);
      const int turn = stretch.is_straight() ? next_top : row_of(stretch.track);
      for (int column : stretch.upper) draw_vertical(column, from, turn, stroke);
      for (int column : stretch.lower) draw_vertical(column, turn, to, stroke);
    }
    for (const Stretch& stretch : ways.stretches) {
      if (stretch.is_straight()) continue;
      const int row = row_of(stretch.track);
      for (int column : stretch.upper) canvas_.put(row, characters(column), '+');
      for (int column : stretch.lower) canvas_.put(row, characters(column), '+');
    }
  }

  void draw_horizontal(const Stretch& stretch, int row) {
    std::vector<int> columns = stretch.upper;
    columns.insert(columns.end(), stretch.lower.begin(), stretch.lower.end());
    const auto [left, right] = std::minmax_element(columns.begin(), columns.end());
    const int length = characters(*right - *left);
    canvas_.write(
        row, characters(*left),
        std::string(static_cast<std::size_t>(length), horizontal(stroke_of(stretch.line))));
  }

  void draw_arrows(const std::vector<Net>& gap, int top, int next_top) {
    for (const Net& net : gap) {
      const bool is_upward = layout_.lines[net.line].is_upward;
      for (const Terminal& end : is_upward ? net.upper : net.lower) {
        if (!layout_.places[end.place].is_box) continue;
        canvas_.put(is_upward ? below(end, top) : next_top - 1, characters(end.x),
                    is_upward ? '^' : 'v');
      }
    }
  }

  Layout layout_;
  Canvas canvas_;
};

}  // namespace
}  // namespace ascii

std::string DrawableGraph::draw_ascii() const {
  ascii::Layout layout = ascii::arrange(*this);
  ascii::order(layout);
  ascii::place(layout);
  return ascii::Picture(std::move(layout)).draw();
}

}  // namespace clew
