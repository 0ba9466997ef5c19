#include "store/neighbour_graph.hpp"

#include <algorithm>

// The distances are our own; those of the library would define global functions.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

namespace clew::store {

namespace {

// Smaller is nearer.
float negative_dot(const void* a, const void* b, const void* width) {
  return -kernels().dot(static_cast<const float*>(a), static_cast<const float*>(b),
                        *static_cast<const std::size_t*>(width));
}

float squared_distance(const void* a, const void* b, const void* width) {
  return kernels().squared_distance(static_cast<const float*>(a), static_cast<const float*>(b),
                                    *static_cast<const std::size_t*>(width));
}

class Space final : public hnswlib::SpaceInterface<float> {
 public:
  Space(Distance distance, std::size_t width) : distance_(distance), width_(width) {}

  std::size_t get_data_size() override { return width_ * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override {
    return distance_ == Distance::l2 ? squared_distance : negative_dot;
  }
  void* get_dist_func_param() override { return &width_; }

 private:
  Distance distance_;
  std::size_t width_;
};

constexpr std::size_t kFirstCapacity = 1024;
constexpr std::size_t kMostNeighbours = 1000;

}  // namespace

struct NeighbourGraph::Data {
  Data(const HnswOptions& options, Distance distance, std::size_t width)
      : space(distance, width),
        graph(&space, kFirstCapacity,
              std::clamp<std::size_t>(options.neighbours, 2, kMostNeighbours),
              options.look_around_to_build) {
    graph.setEf(options.look_around_to_search);
  }

  bool has(Row row) const { return row < is_known.size() && is_known[row]; }

  Space space;
  hnswlib::HierarchicalNSW<float> graph;
  std::vector<bool> is_known;  // by row: there and not deleted
};

NeighbourGraph::NeighbourGraph(const HnswOptions& options, Distance distance, std::size_t width)
    : data_(std::make_unique<Data>(options, distance, width)) {}

NeighbourGraph::~NeighbourGraph() = default;

void NeighbourGraph::put(Row row, const float* vector) {
  if (data_->graph.cur_element_count == data_->graph.max_elements_) {
    data_->graph.resizeIndex(2 * data_->graph.max_elements_);
  }
  if (row >= data_->is_known.size()) data_->is_known.resize(row + 1);
  data_->graph.addPoint(vector, row);
  data_->is_known[row] = true;
}

void NeighbourGraph::erase(Row row) {
  if (!data_->has(row)) return;
  data_->graph.markDelete(row);
  data_->is_known[row] = false;
}

std::vector<Row> NeighbourGraph::search(const float* query, std::size_t limit) const {
  auto found = data_->graph.searchKnn(query, limit);
  std::vector<Row> rows;
  rows.reserve(found.size());
  for (; !found.empty(); found.pop()) rows.push_back(static_cast<Row>(found.top().second));
  return rows;
}

}  // namespace clew::store
