// Who stands left of whom in a row, and where exactly.
#include "graph/ascii_layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clew::ascii {
namespace {

using Places = std::vector<std::size_t>;

enum class Side { above, below };

// Who is connected to whom, by place.
struct Neighbours {
  explicit Neighbours(const Layout& layout)
      : above(layout.places.size()), below(layout.places.size()) {
    for (const std::vector<Net>& gap : layout.gaps) {
      for (const Net& net : gap) {
        for (const Terminal& upper : net.upper) {
          for (const Terminal& lower : net.lower) {
            below[upper.place].push_back(lower.place);
            above[lower.place].push_back(upper.place);
          }
        }
      }
    }
  }

  const Places& on(Side side, std::size_t place) const {
    return side == Side::above ? above[place] : below[place];
  }

  std::vector<Places> above;
  std::vector<Places> below;
};

// Order ------------------------------------------------------------------------

// Sorts rows by the average position of their neighbours, down and up again, and
// keeps the best; then swaps neighbours in a row as long as that helps.
class Ordering {
 public:
  explicit Ordering(Layout& layout)
      : layout_(layout), neighbours_(layout), position_(layout.places.size()) {}

  void run() {
    for (const Places& row : layout_.rows) number(row);
    std::vector<Places> best = layout_.rows;
    std::size_t fewest = crossings();
    constexpr int kSweeps = 12;
    for (int sweep = 0; sweep < kSweeps && fewest > 0; ++sweep) {
      for (std::size_t i = 1; i < layout_.rows.size(); ++i) sort(layout_.rows[i], Side::above);
      for (std::size_t i = layout_.rows.size() - 1; i-- > 0;) sort(layout_.rows[i], Side::below);
      while (swap_pairs()) {
      }
      const std::size_t count = crossings();
      if (count >= fewest) continue;
      fewest = count;
      best = layout_.rows;
    }
    layout_.rows = std::move(best);
  }

 private:
  void number(const Places& row) {
    for (std::size_t i = 0; i < row.size(); ++i) position_[row[i]] = i;
  }

  void sort(Places& row, Side side) {
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t place : row) ranked.emplace_back(average(place, side), place);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = ranked[i].second;
    number(row);
  }

  double average(std::size_t place, Side side) const {
    const Places& neighbours = neighbours_.on(side, place);
    if (neighbours.empty()) return static_cast<double>(position_[place]);
    double sum = 0;
    for (std::size_t neighbour : neighbours) sum += static_cast<double>(position_[neighbour]);
    return sum / static_cast<double>(neighbours.size());
  }

  bool swap_pairs() {
    bool helped = false;
    for (Places& row : layout_.rows) {
      for (std::size_t i = 1; i < row.size(); ++i) {
        if (crossings(row[i - 1], row[i]) <= crossings(row[i], row[i - 1])) continue;
        std::swap(row[i - 1], row[i]);
        std::swap(position_[row[i - 1]], position_[row[i]]);
        helped = true;
      }
    }
    return helped;
  }

  // Of the lines of two places, if `left` stands left of `right`.
  std::size_t crossings(std::size_t left, std::size_t right) const {
    return crossings(left, right, Side::above) + crossings(left, right, Side::below);
  }
  std::size_t crossings(std::size_t left, std::size_t right, Side side) const {
    std::size_t count = 0;
    for (std::size_t a : neighbours_.on(side, left)) {
      for (std::size_t b : neighbours_.on(side, right)) {
        if (position_[a] > position_[b]) ++count;
      }
    }
    return count;
  }
  std::size_t crossings() const {
    std::size_t count = 0;
    for (const Places& row : layout_.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        for (std::size_t j = i + 1; j < row.size(); ++j) {
          count += crossings(row[i], row[j], Side::below);
        }
      }
    }
    return count;
  }

  Layout& layout_;
  Neighbours neighbours_;
  std::vector<std::size_t> position_;
};

// Places -----------------------------------------------------------------------

// Pulls everything towards its neighbours, lines harder than boxes so that long
// ones are straight.
class Placement {
 public:
  explicit Placement(Layout& layout)
      : layout_(layout), neighbours_(layout), x_(layout.places.size()) {}

  void run() {
    for (const Places& row : layout_.rows) pack(row);
    const std::size_t rows = layout_.rows.size();
    constexpr int kSweeps = 8;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (std::size_t i = 1; i < rows; ++i) pull(layout_.rows[i], {Side::above});
      for (std::size_t i = rows - 1; i-- > 0;) pull(layout_.rows[i], {Side::below});
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (const Places& row : layout_.rows) pull(row, {Side::above, Side::below});
    }
    for (std::size_t i = 0; i < x_.size(); ++i) {
      layout_.places[i].x = static_cast<int>(std::floor(x_[i] + 0.5));
    }
    straighten();
    shift_to_edge();
  }

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  int separation(std::size_t left, std::size_t right) const {
    const Place& a = layout_.places[left];
    const Place& b = layout_.places[right];
    return a.right_reach + b.left_reach + (a.is_box || b.is_box ? 2 : 1);
  }

  void pack(const Places& row) {
    for (std::size_t i = 1; i < row.size(); ++i) {
      x_[row[i]] = x_[row[i - 1]] + separation(row[i - 1], row[i]);
    }
  }

  void pull(const Places& row, std::initializer_list<Side> sides) {
    std::vector<double> desired;
    std::vector<double> weights;
    std::vector<int> separations;
    for (std::size_t i = 0; i < row.size(); ++i) {
      double sum = 0;
      double weight = 0;
      for (Side side : sides) {
        for (std::size_t neighbour : neighbours_.on(side, row[i])) {
          const double strength = pull_between(row[i], neighbour);
          sum += strength * x_[neighbour];
          weight += strength;
        }
      }
      constexpr double kLoose = 0.01;
      desired.push_back(weight > 0 ? sum / weight : x_[row[i]]);
      weights.push_back(weight > 0 ? weight : kLoose);
      separations.push_back(i == 0 ? 0 : separation(row[i - 1], row[i]));
    }
    const std::vector<double> positions = spread(desired, weights, separations);
    for (std::size_t i = 0; i < row.size(); ++i) x_[row[i]] = positions[i];
  }

  double pull_between(std::size_t a, std::size_t b) const {
    const bool a_is_box = layout_.places[a].is_box;
    const bool b_is_box = layout_.places[b].is_box;
    return a_is_box && b_is_box ? 1 : a_is_box || b_is_box ? 2 : 8;
  }

  // Rounding leaves lines with little bends. Wherever a line has room for it, it
  // keeps its column from row to row.
  void straighten() {
    find_neighbours_in_rows();
    std::vector<Places> passing(layout_.lines.size());  // places of each line, from above
    for (const std::vector<Net>& gap : layout_.gaps) {
      for (const Net& net : gap) {
        for (const Terminal& terminal : net.upper) {
          if (!layout_.places[terminal.place].is_box) passing[net.line].push_back(terminal.place);
        }
      }
    }
    constexpr int kRounds = 3;  // one line that moves makes room for others
    for (int round = 0; round < kRounds; ++round) {
      for (const Places& line : passing) straighten(line);
    }
  }

  void straighten(const Places& line) {
    for (std::size_t begin = 0, end = 0; begin < line.size(); begin = end) {
      Room room = room_of(line[begin]);
      for (end = begin + 1; end < line.size(); ++end) {
        const Room next = room_of(line[end]);
        const Room both{std::max(room.from, next.from), std::min(room.to, next.to)};
        if (both.from > both.to) break;
        room = both;
      }
      const int x = std::clamp(at(line[(begin + end) / 2]), room.from, room.to);
      for (std::size_t i = begin; i < end; ++i) layout_.places[line[i]].x = x;
    }
  }

  // The columns that a place can move to.
  struct Room {
    int from = 0;
    int to = 0;
  };

  Room room_of(std::size_t place) const {
    Room room{std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
    const std::size_t left = left_[place];
    const std::size_t right = right_[place];
    if (left != kNobody) room.from = at(left) + separation(left, place);
    if (right != kNobody) room.to = at(right) - separation(place, right);
    return room;
  }

  void find_neighbours_in_rows() {
    left_.assign(x_.size(), kNobody);
    right_.assign(x_.size(), kNobody);
    for (const Places& row : layout_.rows) {
      for (std::size_t i = 1; i < row.size(); ++i) {
        left_[row[i]] = row[i - 1];
        right_[row[i - 1]] = row[i];
      }
    }
  }

  int at(std::size_t place) const { return layout_.places[place].x; }

  void shift_to_edge() {
    int leftmost = std::numeric_limits<int>::max();
    for (const Place& place : layout_.places) {
      leftmost = std::min(leftmost, place.x - place.left_reach);
    }
    for (Place& place : layout_.places) place.x -= leftmost;
  }

  Layout& layout_;
  Neighbours neighbours_;
  std::vector<double> x_;
  std::vector<std::size_t> left_;  // who stands beside a place in its row
  std::vector<std::size_t> right_;
};

}  // namespace

void order(Layout& layout) {
  if (!layout.rows.empty()) Ordering(layout).run();
}

void place(Layout& layout) {
  if (!layout.rows.empty()) Placement(layout).run();
}

// Least squares: places that want to be closer than they may form a group that
// moves as one, to where its members want to be on average.
std::vector<double> spread(const std::vector<double>& desired, const std::vector<double>& weights,
                           const std::vector<int>& separations) {
  struct Group {
    double position;  // of its first member
    double weight;
    std::size_t size;
  };
  std::vector<Group> groups;
  std::vector<double> offsets;  // from the first of all, if all stood as close as they may
  for (std::size_t i = 0; i < desired.size(); ++i) {
    offsets.push_back(i == 0 ? 0 : offsets.back() + separations[i]);
    groups.push_back({desired[i] - offsets[i], weights[i], 1});
    while (groups.size() > 1 && groups[groups.size() - 2].position > groups.back().position) {
      const Group last = groups.back();
      groups.pop_back();
      Group& group = groups.back();
      group.position = (group.position * group.weight + last.position * last.weight) /
                       (group.weight + last.weight);
      group.weight += last.weight;
      group.size += last.size;
    }
  }
  std::vector<double> positions;
  for (const Group& group : groups) {
    for (std::size_t i = 0; i < group.size; ++i) {
      positions.push_back(group.position + offsets[positions.size()]);
    }
  }
  return positions;
}

}  // namespace clew::ascii
