// How lines get from one row to the next.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "graph/ascii_layout.hpp"

namespace clew::ascii {
namespace {

// Ports ------------------------------------------------------------------------

// Where lines meet boxes: as near as may be to where they come from or go to, in
// that order from left to right.
class Ports {
 public:
  Ports(const Layout& layout, std::vector<Net>& gap) : layout_(layout) {
    for (Net& net : gap) {
      for (Terminal& terminal : net.upper) add(upper_, terminal, net.lower);
      for (Terminal& terminal : net.lower) add(lower_, terminal, net.upper);
    }
    constexpr int kRounds = 3;  // each side follows the other
    for (int round = 0; round < kRounds; ++round) {
      for (auto& [place, ports] : upper_) assign(layout_.places[place], ports);
      for (auto& [place, ports] : lower_) assign(layout_.places[place], ports);
    }
  }

 private:
  struct Port {
    Terminal* terminal;
    const std::vector<Terminal>* opposite;
    int desired = 0;
  };
  using PortsByPlace = std::map<std::size_t, std::vector<Port>>;

  void add(PortsByPlace& ports, Terminal& terminal, const std::vector<Terminal>& opposite) {
    const Place& place = layout_.places[terminal.place];
    terminal.x = place.x;
    if (place.is_box) ports[terminal.place].push_back({&terminal, &opposite});
  }

  // Straight to the middle one of where the line goes, or between the two.
  static int desired_column(const Place& box, const std::vector<Terminal>& opposite) {
    std::vector<int> columns;
    columns.reserve(opposite.size());
    for (const Terminal& terminal : opposite) columns.push_back(terminal.x);
    std::sort(columns.begin(), columns.end());
    return std::clamp(box.x, columns[(columns.size() - 1) / 2], columns[columns.size() / 2]);
  }

  static void assign(const Place& box, std::vector<Port>& ports) {
    for (Port& port : ports) port.desired = desired_column(box, *port.opposite);
    std::stable_sort(ports.begin(), ports.end(),
                     [](const Port& a, const Port& b) { return a.desired < b.desired; });
    const int count = static_cast<int>(ports.size());
    const int left = box.x - box.left_reach + 1;
    const int right = box.x + box.left_reach - 1;
    const int between = 2 * (count - 1) <= right - left ? 2 : 1;
    std::vector<double> desired;
    desired.reserve(ports.size());
    for (const Port& port : ports) desired.push_back(std::clamp(port.desired, left, right));
    const std::vector<double> columns = spread(desired, std::vector<double>(ports.size(), 1),
                                               std::vector<int>(ports.size(), between));
    for (int i = 0; i < count; ++i) {
      const auto index = static_cast<std::size_t>(i);
      ports[index].terminal->x = std::clamp(static_cast<int>(std::floor(columns[index] + 0.5)),
                                            left + i * between, right - (count - 1 - i) * between);
    }
  }

  const Layout& layout_;
  PortsByPlace upper_;
  PortsByPlace lower_;
};

// Tracks -----------------------------------------------------------------------

bool contains(const std::vector<int>& columns, int column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

// Gives every stretch a track of its own, or one it can share. Where one comes
// from above in the column in which another goes on below, it must turn first:
// its track is above the other's.
class Tracks {
 public:
  explicit Tracks(const std::vector<Net>& gap) {
    for (const Net& net : gap) {
      Piece piece;
      piece.stretch.line = net.line;
      for (const Terminal& terminal : net.upper) piece.stretch.upper.push_back(terminal.x);
      for (const Terminal& terminal : net.lower) piece.stretch.lower.push_back(terminal.x);
      used_columns_.insert(piece.stretch.upper.begin(), piece.stretch.upper.end());
      used_columns_.insert(piece.stretch.lower.begin(), piece.stretch.lower.end());
      waiting_.push_back(std::move(piece));
    }
  }

  Route run() && {
    while (!waiting_.empty()) {
      if (!take_free()) cut(piece_in_circle());
    }
    while (swap_pairs()) {
    }
    return number();
  }

 private:
  struct Piece {
    Stretch stretch;
    int cut = 0;  // the number of the cut that made it a half; 0: whole
    bool is_lower_half = false;

    int left() const {
      return std::min(*std::min_element(stretch.upper.begin(), stretch.upper.end()),
                      *std::min_element(stretch.lower.begin(), stretch.lower.end()));
    }
    int right() const {
      return std::max(*std::max_element(stretch.upper.begin(), stretch.upper.end()),
                      *std::max_element(stretch.lower.begin(), stretch.lower.end()));
    }
  };

  static bool are_halves(const Piece& a, const Piece& b) { return a.cut != 0 && a.cut == b.cut; }

  static bool must_be_above(const Piece& a, const Piece& b) {
    if (are_halves(a, b)) return b.is_lower_half;
    return std::any_of(a.stretch.upper.begin(), a.stretch.upper.end(),
                       [&](int column) { return contains(b.stretch.lower, column); });
  }

  static bool are_in_the_way(const Piece& a, const Piece& b) {
    constexpr int kApart = 2;
    return a.left() < b.right() + kApart && b.left() < a.right() + kApart;
  }

  // Takes a piece that needs no other above it, if there is one.
  bool take_free() {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const bool is_free = std::none_of(waiting_.begin(), waiting_.end(), [&](const Piece& other) {
        return &other != &waiting_[i] && must_be_above(other, waiting_[i]);
      });
      if (!is_free) continue;
      ordered_.push_back(std::move(waiting_[i]));
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  // When no piece is free, some want to change places: each waits for the next,
  // and the last for the first. Finds one of them.
  Piece& piece_in_circle() {
    std::set<const Piece*> passed;
    Piece* piece = &waiting_.front();
    while (passed.insert(piece).second) {
      piece = &*std::find_if(waiting_.begin(), waiting_.end(), [&](const Piece& other) {
        return &other != piece && must_be_above(other, *piece);
      });
    }
    return *piece;
  }

  // Lets a piece go round through a column that nobody uses. Its halves wait for
  // others or have others wait for them, but not both: no circle has a half in it.
  void cut(Piece& piece) {
    const int column = free_column((piece.left() + piece.right()) / 2);
    piece.cut = ++cuts_;
    Piece lower = piece;
    lower.is_lower_half = true;
    lower.stretch.upper = {column};
    piece.stretch.lower = {column};
    waiting_.push_back(std::move(lower));
  }

  int free_column(int near) {
    for (int distance = 0;; ++distance) {
      for (const int column : {near - distance, near + distance}) {
        if (column >= 0 && used_columns_.insert(column).second) return column;
      }
    }
  }

  static int crossings(const Piece& above, const Piece& below) {
    const auto count_inside = [](const std::vector<int>& columns, const Piece& piece) {
      return std::count_if(columns.begin(), columns.end(), [&](int column) {
        return column >= piece.left() && column <= piece.right();
      });
    };
    return static_cast<int>(count_inside(below.stretch.upper, above) +
                            count_inside(above.stretch.lower, below));
  }

  bool swap_pairs() {
    bool helped = false;
    for (std::size_t i = 1; i < ordered_.size(); ++i) {
      Piece& above = ordered_[i - 1];
      Piece& below = ordered_[i];
      if (must_be_above(above, below) || crossings(above, below) <= crossings(below, above)) {
        continue;
      }
      std::swap(above, below);
      helped = true;
    }
    return helped;
  }

  Route number() {
    Route route;
    for (std::size_t i = 0; i < ordered_.size(); ++i) {
      Stretch& stretch = ordered_[i].stretch;
      if (stretch.is_straight()) continue;
      stretch.track = track_below_others(i);
      route.tracks = std::max(route.tracks, stretch.track + 1);
    }
    join_halves();
    for (Piece& piece : ordered_) route.stretches.push_back(std::move(piece.stretch));
    return route;
  }

  // The first track that is below all earlier pieces which are in the way.
  int track_below_others(std::size_t index) const {
    int track = 0;
    for (std::size_t i = 0; i < index; ++i) {
      const Piece& above = ordered_[i];
      const Piece& piece = ordered_[index];
      if (above.stretch.is_straight()) continue;
      if (are_in_the_way(above, piece)) track = std::max(track, above.stretch.track + 1);
      // With a row between them, or their corners would seem to be joined.
      if (must_be_above(above, piece) && !are_halves(above, piece)) {
        track = std::max(track, above.stretch.track + 2);
      }
    }
    return track;
  }

  void join_halves() {
    for (Piece& upper : ordered_) {
      for (Piece& lower : ordered_) {
        if (!are_halves(upper, lower) || upper.is_lower_half || !lower.is_lower_half) continue;
        upper.stretch.lower_track = lower.stretch.track;
        lower.stretch.upper_track = upper.stretch.track;
      }
    }
  }

  std::set<int> used_columns_;
  std::vector<Piece> waiting_;
  std::vector<Piece> ordered_;
  int cuts_ = 0;
};

}  // namespace

Route route(const Layout& layout, std::vector<Net>& gap) {
  const Ports ports(layout, gap);
  return Tracks(gap).run();
}

}  // namespace clew::ascii
