#include "unit/graph/picture.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace clew::test {
namespace {

enum class Direction { up, down, left, right };

bool is_vertical(char c) { return c == '|' || c == ':' || c == 'v' || c == '^'; }
bool is_horizontal(char c) { return c == '-' || c == '.'; }

struct Box {
  std::string text;
  int top = 0, left = 0, bottom = 0, right = 0;

  bool contains(int row, int column) const {
    return row >= top && row <= bottom && column >= left && column <= right;
  }
};

// Everything that one line touches.
struct Trace {
  std::set<std::string> leaving_down, entered_from_above, leaving_up, entered_from_below;
  bool has_solid = false, has_dotted = false;
};

class Reader {
 public:
  explicit Reader(const std::string& text) {
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines_.push_back(line);
  }

  Picture read() && {
    find_boxes();
    for (const Box& box : boxes_) {
      picture_.boxes.push_back(box.text);
      read_loop(box);
      for (int column = box.left + 1; column < box.right; ++column) {
        if (at(box.bottom + 1, column) != ' ') follow_line(box.bottom + 1, column);
      }
    }
    for (int row = 0; row < height(); ++row) {
      for (int column = 0; column < width(row); ++column) {
        const bool is_known =
            at(row, column) == ' ' || box_at(row, column) || seen_.contains({row, column});
        if (!is_known) problem(row, column, "belongs to nothing");
      }
    }
    return std::move(picture_);
  }

 private:
  int height() const { return static_cast<int>(lines_.size()); }
  int width(int row) const {
    return static_cast<int>(lines_[static_cast<std::size_t>(row)].size());
  }
  char at(int row, int column) const {
    if (row < 0 || row >= height() || column < 0 || column >= width(row)) return ' ';
    return lines_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  }
  void problem(int row, int column, const std::string& what) {
    picture_.problems.push_back(std::to_string(row) + ":" + std::to_string(column) + " '" +
                                at(row, column) + "' " + what);
  }

  void find_boxes() {
    for (int row = 0; row < height(); ++row) {
      for (int column = 0; column < width(row); ++column) {
        Box box;
        if (at(row, column) == '+' && !box_at(row, column) && read_box(row, column, box)) {
          boxes_.push_back(box);
        }
      }
    }
  }

  // A border all round, and in it nothing but one line of text with blanks beside it.
  bool read_box(int row, int column, Box& box) const {
    int right = column + 1;
    while (at(row, right) == '-') ++right;
    if (at(row, right) != '+' || right == column + 1) return false;
    int bottom = row + 1;
    while (at(bottom, column) == '|' && at(bottom, right) == '|') ++bottom;
    if (bottom < row + 2 || at(bottom, column) != '+' || at(bottom, right) != '+') return false;
    for (int i = column + 1; i < right; ++i) {
      if (at(bottom, i) != '-') return false;
    }
    const auto inside = [&](int at_row) {
      return lines_[static_cast<std::size_t>(at_row)].substr(
          static_cast<std::size_t>(column) + 1, static_cast<std::size_t>(right - column) - 1);
    };
    for (int i = row + 2; i < bottom; ++i) {
      if (inside(i).find_first_not_of(' ') != std::string::npos) return false;
    }
    const std::string text = inside(row + 1);
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos || text.front() != ' ' || text.back() != ' ') return false;
    box = {text.substr(first, text.find_last_not_of(' ') - first + 1), row, column, bottom, right};
    return true;
  }

  const Box* box_at(int row, int column) const {
    const auto found = std::find_if(boxes_.begin(), boxes_.end(),
                                    [&](const Box& box) { return box.contains(row, column); });
    return found == boxes_.end() ? nullptr : &*found;
  }

  void read_loop(const Box& box) {
    if (box.bottom - box.top != 3) return;
    std::string entering, leaving;
    for (int column = box.right + 1; column <= box.right + 4; ++column) {
      entering += at(box.top + 1, column);
      leaving += at(box.top + 2, column);
      seen_.insert({box.top + 1, column});
      seen_.insert({box.top + 2, column});
    }
    if (entering == "<--+" && leaving == "---+") {
      picture_.edges.insert({box.text, box.text, false});
    } else if (entering == "<..+" && leaving == "...+") {
      picture_.edges.insert({box.text, box.text, true});
    } else {
      problem(box.top + 1, box.right + 1, "is no loop");
    }
  }

  void follow_line(int row, int column) {
    if (seen_.contains({row, column})) return;
    Trace trace;
    step(row, column, Direction::down, trace);
    step(row, column, Direction::up, trace);
    const bool goes_down = !trace.entered_from_above.empty();
    const bool goes_up = !trace.entered_from_below.empty();
    if (goes_down == goes_up) problem(row, column, "leads nowhere, or both up and down");
    if (trace.has_solid == trace.has_dotted) problem(row, column, "is solid and dotted");
    const auto& sources = goes_down ? trace.leaving_down : trace.leaving_up;
    const auto& targets = goes_down ? trace.entered_from_above : trace.entered_from_below;
    if (!(goes_down ? trace.leaving_up : trace.leaving_down).empty()) {
      problem(row, column, "leaves a box at both ends");
    }
    for (const std::string& source : sources) {
      for (const std::string& target : targets) {
        if (!picture_.edges.insert({source, target, trace.has_dotted}).second) {
          problem(row, column, "repeats " + source + " to " + target);
        }
      }
    }
  }

  // Arrives at a cell in a direction; goes on to all cells that are connected.
  void step(int row, int column, Direction direction, Trace& trace) {
    const bool is_upright = direction == Direction::up || direction == Direction::down;
    if (const Box* box = box_at(row, column)) return arrive(*box, row, column, direction, trace);
    const char cell = at(row, column);
    if (cell == '+') return turn(row, column, trace);
    if (is_upright ? !is_vertical(cell) : !is_vertical(cell) && !is_horizontal(cell)) {
      return problem(row, column, "ends a line");
    }
    seen_.insert({row, column});
    if (is_upright) {
      trace.has_solid = trace.has_solid || cell == '|';
      trace.has_dotted = trace.has_dotted || cell == ':';
    } else if (is_horizontal(cell)) {
      trace.has_solid = trace.has_solid || cell == '-';
      trace.has_dotted = trace.has_dotted || cell == '.';
    }
    step_on(row, column, direction, trace);
  }

  void step_on(int row, int column, Direction direction, Trace& trace) {
    switch (direction) {
      case Direction::up: return step(row - 1, column, direction, trace);
      case Direction::down: return step(row + 1, column, direction, trace);
      case Direction::left: return step(row, column - 1, direction, trace);
      case Direction::right: return step(row, column + 1, direction, trace);
    }
  }

  void turn(int row, int column, Trace& trace) {
    if (!seen_.insert({row, column}).second) return;
    const auto goes_on = [&](char next, bool is_line) { return is_line || next == '+'; };
    const char above = at(row - 1, column), below = at(row + 1, column);
    const char left = at(row, column - 1), right = at(row, column + 1);
    if (goes_on(above, is_vertical(above))) step(row - 1, column, Direction::up, trace);
    if (goes_on(below, is_vertical(below))) step(row + 1, column, Direction::down, trace);
    if (goes_on(left, is_horizontal(left))) step(row, column - 1, Direction::left, trace);
    if (goes_on(right, is_horizontal(right))) step(row, column + 1, Direction::right, trace);
  }

  void arrive(const Box& box, int row, int column, Direction direction, Trace& trace) {
    if (direction == Direction::down) {
      (at(row - 1, column) == 'v' ? trace.entered_from_above : trace.leaving_up).insert(box.text);
    } else if (direction == Direction::up) {
      (at(row + 1, column) == '^' ? trace.entered_from_below : trace.leaving_down).insert(box.text);
    } else {
      problem(row, column, "is met from the side");
    }
  }

  std::vector<std::string> lines_;
  std::vector<Box> boxes_;
  std::set<std::pair<int, int>> seen_;
  Picture picture_;
};

}  // namespace

Picture read_picture(const std::string& text) { return Reader(text).read(); }

}  // namespace clew::test
