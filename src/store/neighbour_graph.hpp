// A graph of vectors and their near neighbours, in which a search walks towards
// the query (HNSW).
//
// Any number of searches may run at a time, a change only alone.
#pragma once

#include <memory>
#include <vector>

#include <clew/store_index.hpp>

#include "store/vector_rows.hpp"

namespace clew::store {

class NeighbourGraph {
 public:
  // For vectors of `width` floats, prepared by VectorRows.
  NeighbourGraph(const HnswOptions& options, Distance distance, std::size_t width);
  NeighbourGraph(const NeighbourGraph&) = delete;
  NeighbourGraph& operator=(const NeighbourGraph&) = delete;
  ~NeighbourGraph();

  // Copies the vector, in place of what the row had.
  void put(Row row, const float* vector);
  void erase(Row row);

  // At most `limit` rows near the query, in any order. Fewer if it loses its way.
  std::vector<Row> search(const float* query, std::size_t limit) const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace clew::store
