#include "store/vector_index.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "store/fair_shared_mutex.hpp"
#include "store/neighbour_graph.hpp"
#include "store/top_hits.hpp"
#include "store/vector_rows.hpp"

namespace clew::store {

// Searches and changes come from the store, which sees to it that a change is
// alone. The mutex is for the thread that brings the graph up to date: rows
// change in a moment, the graph follows, and until it does a search compares
// the rows that it does not know yet one by one.
struct VectorIndex::Data {
  Data(Distance the_distance, std::optional<HnswOptions> the_hnsw)
      : distance(the_distance), hnsw(the_hnsw), rows(the_distance) {}

  // ---- Changes

  void erase(ItemId id) {
    for (Row row = rows.first(id); row != kNoRow; row = rows.next(row)) note_change(row);
    rows.remove(id);
  }

  void put(ItemId id, std::span<const Embedder::Vector> vectors) {
    rows.check(vectors);
    erase(id);
    rows.add(id, vectors);
    for (Row row = rows.first(id); row != kNoRow; row = rows.next(row)) note_change(row);
    if (hnsw && !thread.joinable() && rows.vectors() >= hnsw->from) start_graph();
    changed.notify_one();
  }

  void note_change(Row row) {
    if (!graph) return;
    if (row >= is_behind.size()) is_behind.resize(row + 1);
    if (is_behind[row]) return;
    is_behind[row] = true;
    behind.push_back(row);
  }

  // ---- Searches

  std::vector<Hit> search(const float* query, std::size_t limit, const Candidates* candidates,
                          const Hit* after) const {
    if (may_use_graph(candidates)) {
      std::optional<std::vector<Hit>> found = search_graph(query, limit, candidates, after);
      if (found) return *std::move(found);
    }
    TopHits top(limit, after);
    if (candidates) {
      for (const ItemId id : *candidates) offer(id, query, top);
    } else {
      offer_all(query, top);
    }
    return std::move(top).take();
  }

  void offer(ItemId id, const float* query, TopHits& top) const {
    const Row first = rows.first(id);
    if (first != kNoRow) top.offer({id, rows.score(first, query)});
  }

  void offer_all(const float* query, TopHits& top) const {
    for (Row row = 0; row < rows.end(); ++row) {
      if (rows.is_first(row)) top.offer({rows.owner(row), rows.score(row, query)});
    }
  }

  // ---- Searches in the graph

  // Of few candidates, and of a graph that is far behind, comparing all is the
  // shorter way.
  bool may_use_graph(const Candidates* candidates) const {
    constexpr std::size_t kSelective = 8;
    constexpr std::size_t kFarBehind = 16;
    return is_graph_ready && rows.vectors() >= hnsw->from &&
           behind.size() < rows.vectors() / kFarBehind &&
           (!candidates || candidates->size() > rows.items() / kSelective);
  }

  // Nothing if the graph does not find as many as there may be.
  std::optional<std::vector<Hit>> search_graph(const float* query, std::size_t limit,
                                               const Candidates* candidates,
                                               const Hit* after) const {
    constexpr std::size_t kTooMany = 16;
    const std::size_t most = rows.vectors() / kTooMany;
    if (limit > most) return std::nullopt;
    const double vectors_per_hit =
        static_cast<double>(rows.vectors()) /
        static_cast<double>(candidates ? candidates->size() : rows.items());
    auto wanted = static_cast<std::size_t>(static_cast<double>(limit) * vectors_per_hit) + 1;
    for (; wanted <= most; wanted *= 4) {
      TopHits top(limit, after);
      for (const ItemId id : items_near(query, wanted)) {
        if (!candidates || std::ranges::binary_search(*candidates, id)) offer(id, query, top);
      }
      if (top.size() == limit) return std::move(top).take();
    }
    return std::nullopt;
  }

  // Each once. Their scores are not those of the graph but computed as always.
  std::vector<ItemId> items_near(const float* query, std::size_t wanted) const {
    std::vector<ItemId> items;
    for (const Row row : graph->search(query, wanted)) {
      if (!is_behind[row]) items.push_back(rows.owner(row));
    }
    for (const Row row : behind) {
      if (rows.is_used(row)) items.push_back(rows.owner(row));
    }
    std::ranges::sort(items);
    items.erase(std::ranges::unique(items).begin(), items.end());
    return items;
  }

  // ---- The thread of the graph

  void start_graph() {
    graph = std::make_unique<NeighbourGraph>(*hnsw, distance, rows.width());
    is_behind.resize(rows.end());
    for (Row row = 0; row < rows.end(); ++row) {
      if (rows.is_used(row)) note_change(row);
    }
    thread = std::jthread([this](const std::stop_token& stop) { keep_up(stop); });
  }

  void keep_up(const std::stop_token& stop) {
    try {
      while (bring_up_to_date(stop)) continue;
    } catch (const std::exception&) {
      // There is not enough memory for a graph. Without one everything works.
      const std::scoped_lock lock(mutex);
      is_graph_ready = false;
      graph.reset();
      behind.clear();
    }
  }

  // One row. False when it is time to stop.
  bool bring_up_to_date(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    if (!changed.wait(lock, stop, [this] { return !behind.empty(); })) return false;
    if (stop.stop_requested()) return false;
    const Row row = behind.back();
    behind.pop_back();
    is_behind[row] = false;
    if (!rows.is_used(row)) {
      graph->erase(row);
    } else if (is_graph_ready) {
      graph->put(row, rows[row]);
    } else {
      put_unlocked(row, lock);
    }
    if (behind.empty()) is_graph_ready = true;
    return true;
  }

  // Nobody looks into the graph before it is ready, so that nobody need wait.
  void put_unlocked(Row row, std::unique_lock<FairSharedMutex>& lock) {
    if (!copied_row) copied_row = make_floats(rows.width());
    std::copy_n(rows[row], rows.width(), copied_row.get());
    lock.unlock();
    graph->put(row, copied_row.get());
    lock.lock();
  }

  const Distance distance;
  const std::optional<HnswOptions> hnsw;

  FairSharedMutex mutex;
  std::condition_variable_any changed;
  VectorRows rows;
  std::unique_ptr<NeighbourGraph> graph;  // null: too few vectors
  bool is_graph_ready = false;
  std::vector<Row> behind;      // rows that the graph does not have as they are
  std::vector<bool> is_behind;  // by row
  AlignedFloats copied_row;     // of the thread
  std::jthread thread;          // the last one: it ends before the others go
};

VectorIndex::VectorIndex(Distance distance, std::optional<HnswOptions> hnsw)
    : data_(std::make_unique<Data>(distance, hnsw)) {}

VectorIndex::~VectorIndex() = default;

void VectorIndex::check(std::span<const Embedder::Vector> vectors) const {
  data_->rows.check(vectors);
}

void VectorIndex::put(ItemId id, std::span<const Embedder::Vector> vectors) {
  const std::scoped_lock lock(data_->mutex);
  data_->put(id, vectors);
}

void VectorIndex::erase(ItemId id) {
  const std::scoped_lock lock(data_->mutex);
  data_->erase(id);
  data_->changed.notify_one();
}

bool VectorIndex::contains(ItemId id) const { return data_->rows.first(id) != kNoRow; }

std::size_t VectorIndex::size() const { return data_->rows.items(); }

std::vector<Hit> VectorIndex::search(const Embedder::Vector& query, std::size_t limit,
                                     const Candidates* candidates, const Hit* after) const {
  const std::shared_lock lock(data_->mutex);
  if (limit == 0 || data_->rows.items() == 0) return {};
  data_->rows.check({&query, 1});
  const AlignedFloats prepared = data_->rows.prepare(query);
  return data_->search(prepared.get(), limit, candidates, after);
}

bool VectorIndex::has_graph() const {
  const std::shared_lock lock(data_->mutex);
  return data_->is_graph_ready && data_->behind.empty();
}

}  // namespace clew::store
