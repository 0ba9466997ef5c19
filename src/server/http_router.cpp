#include "server/http_router.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "server/http_url.hpp"

namespace clew::server {

struct Router::Slot {
  std::string method;
  const Route* route = nullptr;
  const Route* websocket = nullptr;
  std::vector<std::string> names;  // of the {parameters}, in order
};

// One segment of the tree of patterns.
struct Router::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> fixed;
  std::unique_ptr<Node> any;
  std::vector<Slot> slots;
};

namespace {

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

std::vector<std::string> pattern_segments(const std::string& pattern) {
  if (!pattern.starts_with('/')) {
    throw Error("route '" + pattern + "' must begin with a slash");
  }
  std::vector<std::string> segments = path_segments(pattern);
  for (const std::string& segment : segments) {
    if (is_parameter(segment) || segment.find_first_of("{}") == std::string::npos) continue;
    throw Error("route '" + pattern + "': a {name} must be a whole segment");
  }
  return segments;
}

// The end points under `node` that `segments` lead to, fixed text before names.
template <class Node>
void collect(const Node& node, const std::vector<std::string>& segments, std::size_t depth,
             std::vector<std::string>& taken,
             std::vector<std::pair<const Node*, std::vector<std::string>>>& found) {
  if (depth == segments.size()) {
    if (!node.slots.empty()) found.emplace_back(&node, taken);
    return;
  }
  const std::string& segment = segments[depth];
  if (const auto fixed = node.fixed.find(segment); fixed != node.fixed.end()) {
    collect(*fixed->second, segments, depth + 1, taken, found);
  }
  if (node.any && !segment.empty()) {
    taken.push_back(segment);
    collect(*node.any, segments, depth + 1, taken, found);
    taken.pop_back();
  }
}

}  // namespace

Router::Router() : root_(std::make_unique<Node>()) {}
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;
Router::~Router() = default;

void Router::add(std::string method, std::string pattern, Handler handler, RouteOptions options) {
  insert(std::make_unique<Route>(Route{.method = std::move(method),
                                       .pattern = std::move(pattern),
                                       .options = options,
                                       .handler = std::move(handler),
                                       .websocket = nullptr}));
}

void Router::add_websocket(std::string pattern, WebSocketHandler handler, RouteOptions options) {
  insert(std::make_unique<Route>(Route{.method = "GET",
                                       .pattern = std::move(pattern),
                                       .options = options,
                                       .handler = nullptr,
                                       .websocket = std::move(handler)}));
}

void Router::insert(std::unique_ptr<Route> route) {
  std::vector<std::string> names;
  Node* node = root_.get();
  for (const std::string& segment : pattern_segments(route->pattern)) {
    const bool is_name = is_parameter(segment);
    if (is_name) names.push_back(segment.substr(1, segment.size() - 2));
    std::unique_ptr<Node>& child = is_name ? node->any : node->fixed[segment];
    if (!child) child = std::make_unique<Node>();
    node = child.get();
  }
  auto slot = std::find_if(node->slots.begin(), node->slots.end(),
                           [&](const Slot& s) { return s.method == route->method; });
  if (slot == node->slots.end()) {
    slot = node->slots.insert(node->slots.end(), Slot{.method = route->method, .names = names});
  }
  const Route*& place = route->websocket ? slot->websocket : slot->route;
  if (place != nullptr || slot->names != names) {
    throw Error("route '" + route->method + " " + route->pattern + "' is already taken");
  }
  place = route.get();
  routes_.push_back(std::move(route));
}

std::vector<const Route*> Router::routes() const {
  std::vector<const Route*> all;
  for (const auto& route : routes_) all.push_back(route.get());
  return all;
}

Router::Match Router::find(std::string_view method, std::string_view path,
                           bool wants_websocket) const {
  std::vector<std::string> segments = path_segments(path);
  std::vector<std::string> taken;
  std::vector<std::pair<const Node*, std::vector<std::string>>> ends;
  collect(*root_, segments, 0, taken, ends);

  Match match;
  std::vector<std::string> allowed;
  for (const auto& [node, values] : ends) {
    for (const Slot& slot : node->slots) {
      const bool is_head = method == "HEAD" && slot.method == "GET";
      const Route* route = wants_websocket && slot.websocket ? slot.websocket : slot.route;
      if ((slot.method == method || is_head) && route != nullptr) {
        match.route = route;
        for (std::size_t i = 0; i < values.size(); ++i) {
          match.path_parameters.add(slot.names[i], values[i]);
        }
        return match;
      }
      if (slot.route == nullptr) continue;
      allowed.push_back(slot.method);
      if (slot.method == "GET") allowed.push_back("HEAD");
    }
  }
  std::sort(allowed.begin(), allowed.end());
  allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
  for (const std::string& name : allowed) match.allow += (match.allow.empty() ? "" : ", ") + name;

  if (ends.empty() && segments.size() > 1 && segments.back().empty() && path != "//") {
    segments.pop_back();
    collect(*root_, segments, 0, taken, ends);
    if (!ends.empty()) match.redirect = path.substr(0, path.size() - 1);
  }
  return match;
}

}  // namespace clew::server
