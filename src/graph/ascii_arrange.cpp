// Which row each box is in, and which edges share a line.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include <clew/errors.hpp>
#include <clew/types.hpp>

#include "graph/ascii_layout.hpp"
#include "graph/drawing_text.hpp"

namespace clew::ascii {
namespace {

struct Edge {
  std::size_t source = 0;
  std::size_t target = 0;
  Stroke stroke = Stroke::solid;
  bool is_upward = false;

  std::size_t upper() const { return is_upward ? target : source; }
  std::size_t lower() const { return is_upward ? source : target; }
};

std::vector<Edge> read_edges(const DrawableGraph& graph) {
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) index.emplace(graph.nodes[i].id, i);
  const auto find = [&](const std::string& id) {
    const auto found = index.find(id);
    if (found == index.end()) throw GraphError("an edge ends at '" + id + "', which is not a node");
    return found->second;
  };
  std::vector<Edge> edges;
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const DrawableGraph::Edge& edge : graph.edges) {
    const std::size_t source = find(edge.source);
    const std::size_t target = find(edge.target);
    if (!seen.insert({source, target}).second) continue;
    edges.push_back({source, target, edge.conditional ? Stroke::dotted : Stroke::solid});
  }
  return edges;
}

// Rows are numbers of steps from the start, by the longest way. Edges that close
// a circle do not count: they lead back up.
class Layers {
 public:
  Layers(const DrawableGraph& graph, std::vector<Edge>& edges)
      : edges_(edges), outgoing_(graph.nodes.size()), visits_(graph.nodes.size()) {
    for (std::size_t i = 0; i < edges.size(); ++i) outgoing_[edges[i].source].push_back(i);
    for (std::size_t node : roots(graph)) visit(node);
    std::reverse(order_.begin(), order_.end());
  }

  std::vector<std::size_t> layers() const {
    std::vector<std::size_t> layer(outgoing_.size(), 0);
    std::vector<bool> is_entered(outgoing_.size(), false);
    for (std::size_t node : order_) {
      for_each_below(node, [&](std::size_t below) {
        layer[below] = std::max(layer[below], layer[node] + 1);
        is_entered[below] = true;
      });
    }
    // What nothing leads to stands right above what it leads to.
    for (std::size_t node : order_) {
      std::size_t highest = outgoing_.size() + 1;
      for_each_below(node, [&](std::size_t below) { highest = std::min(highest, layer[below]); });
      if (!is_entered[node] && highest <= outgoing_.size()) layer[node] = highest - 1;
    }
    return layer;
  }

 private:
  enum class Visit { none, open, done };

  // START, then what no edge leads to, then the rest.
  std::vector<std::size_t> roots(const DrawableGraph& graph) const {
    std::set<std::size_t> entered;
    for (const Edge& edge : edges_) entered.insert(edge.target);
    std::vector<std::size_t> roots(graph.nodes.size());
    std::iota(roots.begin(), roots.end(), std::size_t{0});
    std::stable_sort(roots.begin(), roots.end(), [&](std::size_t a, std::size_t b) {
      const auto rank = [&](std::size_t node) {
        return graph.nodes[node].id == START ? 0 : entered.contains(node) ? 2 : 1;
      };
      return rank(a) < rank(b);
    });
    return roots;
  }

  void visit(std::size_t node) {
    if (visits_[node] != Visit::none) return;
    visits_[node] = Visit::open;
    for (std::size_t edge : outgoing_[node]) {
      const std::size_t target = edges_[edge].target;
      if (visits_[target] == Visit::open) {
        edges_[edge].is_upward = true;
      } else {
        visit(target);
      }
    }
    visits_[node] = Visit::done;
    order_.push_back(node);
  }

  template <class F>
  void for_each_below(std::size_t node, F function) const {
    for (std::size_t edge : outgoing_[node]) {
      if (!edges_[edge].is_upward) function(edges_[edge].target);
    }
  }

  std::vector<Edge>& edges_;
  std::vector<std::vector<std::size_t>> outgoing_;
  std::vector<Visit> visits_;
  std::vector<std::size_t> order_;  // from above to below
};

// Finds edges that can share a line: the largest set of boxes above that all
// lead to the same boxes below, then the largest of what is left, and so on.
class Sharing {
 public:
  explicit Sharing(const std::vector<const Edge*>& edges) {
    for (const Edge* edge : edges) {
      below_[edge->upper()].insert(edge->lower());
      above_[edge->lower()].insert(edge->upper());
    }
  }

  bool is_done() const { return below_.empty(); }

  Line take_largest() {
    Line best;
    for (const auto& [box, lower] : below_) keep_larger(best, common(above_, lower), lower);
    for (const auto& [box, upper] : above_) keep_larger(best, upper, common(below_, upper));
    for (std::size_t upper : best.upper) {
      for (std::size_t lower : best.lower) {
        remove(below_, upper, lower);
        remove(above_, lower, upper);
      }
    }
    return best;
  }

 private:
  using Boxes = std::set<std::size_t>;
  using Neighbours = std::map<std::size_t, Boxes>;

  // The boxes that are neighbours of all of these.
  static Boxes common(const Neighbours& neighbours, const Boxes& boxes) {
    Boxes result = neighbours.at(*boxes.begin());
    for (std::size_t box : boxes) {
      std::erase_if(result, [&](std::size_t other) { return !neighbours.at(box).contains(other); });
    }
    return result;
  }

  static void keep_larger(Line& best, const Boxes& upper, const Boxes& lower) {
    if (upper.size() * lower.size() <= best.upper.size() * best.lower.size()) return;
    best.upper.assign(upper.begin(), upper.end());
    best.lower.assign(lower.begin(), lower.end());
  }

  static void remove(Neighbours& neighbours, std::size_t box, std::size_t other) {
    Boxes& boxes = neighbours.at(box);
    boxes.erase(other);
    if (boxes.empty()) neighbours.erase(box);
  }

  Neighbours below_;
  Neighbours above_;
};

std::vector<Line> share_lines(const std::vector<Edge>& edges) {
  std::vector<Line> lines;
  for (const bool is_upward : {false, true}) {
    for (const Stroke stroke : {Stroke::solid, Stroke::dotted}) {
      std::vector<const Edge*> alike;
      for (const Edge& edge : edges) {
        const bool is_loop = edge.source == edge.target;
        if (!is_loop && edge.is_upward == is_upward && edge.stroke == stroke) {
          alike.push_back(&edge);
        }
      }
      for (Sharing sharing(alike); !sharing.is_done();) {
        Line line = sharing.take_largest();
        line.stroke = stroke;
        line.is_upward = is_upward;
        lines.push_back(std::move(line));
      }
    }
  }
  return lines;
}

// Adds a line to the gaps it goes through, and a place to the rows it passes.
void add_line(Layout& layout, std::size_t index, const std::vector<std::size_t>& layer) {
  const Line& line = layout.lines[index];
  const auto by_layer = [&](std::size_t a, std::size_t b) { return layer[a] < layer[b]; };
  const std::size_t top = layer[*std::min_element(line.upper.begin(), line.upper.end(), by_layer)];
  const std::size_t bottom =
      layer[*std::max_element(line.lower.begin(), line.lower.end(), by_layer)];
  for (std::size_t row = top; row < bottom; ++row) layout.gaps[row].push_back({index, {}, {}});
  for (std::size_t box : line.upper) layout.gaps[layer[box]].back().upper.push_back({box});
  for (std::size_t box : line.lower) layout.gaps[layer[box] - 1].back().lower.push_back({box});
  for (std::size_t row = top + 1; row < bottom; ++row) {
    const std::size_t place = layout.places.size();
    layout.places.push_back({});
    layout.rows[row].push_back(place);
    layout.gaps[row - 1].back().lower.push_back({place});
    layout.gaps[row].back().upper.push_back({place});
  }
}

// Boxes have room for their text, and for the lines above and below it.
void size_boxes(Layout& layout) {
  std::vector<int> above(layout.places.size());
  std::vector<int> below(layout.places.size());
  for (const std::vector<Net>& gap : layout.gaps) {
    for (const Net& net : gap) {
      for (const Terminal& terminal : net.upper) ++below[terminal.place];
      for (const Terminal& terminal : net.lower) ++above[terminal.place];
    }
  }
  for (std::size_t i = 0; i < layout.places.size(); ++i) {
    Place& place = layout.places[i];
    if (!place.is_box) continue;
    const int for_text = (static_cast<int>(place.text.size()) + 6) / 4;
    const int for_lines = (std::max(above[i], below[i]) + 2) / 2;
    place.left_reach = std::max(for_text, for_lines);
    place.right_reach = place.left_reach + (place.loop == Stroke::none ? 0 : 2);
  }
}

}  // namespace

Layout arrange(const DrawableGraph& graph) {
  Layout layout;
  std::vector<Edge> edges = read_edges(graph);
  const std::vector<std::size_t> layer = Layers(graph, edges).layers();
  for (const DrawableGraph::Node& node : graph.nodes) {
    Place box;
    box.is_box = true;
    box.text = escape_characters(node.id, [](char32_t c) { return c >= ' ' && c <= '~'; });
    layout.places.push_back(std::move(box));
  }
  for (const Edge& edge : edges) {
    if (edge.source == edge.target) layout.places[edge.source].loop = edge.stroke;
  }
  for (std::size_t node = 0; node < layer.size(); ++node) {
    if (layout.rows.size() <= layer[node]) layout.rows.resize(layer[node] + 1);
  }
  layout.gaps.resize(layout.rows.size());
  for (std::size_t node = 0; node < layer.size(); ++node) layout.rows[layer[node]].push_back(node);
  layout.lines = share_lines(edges);
  for (std::size_t i = 0; i < layout.lines.size(); ++i) add_line(layout, i, layer);
  size_boxes(layout);
  return layout;
}

}  // namespace clew::ascii
