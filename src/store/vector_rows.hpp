// Vectors in memory, each in a row of its own, and whose they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <clew/store_index.hpp>

#include "store/distances.hpp"
#include "store/vector_index.hpp"

namespace clew::store {

using Row = std::uint32_t;
inline constexpr Row kNoRow = ~Row{0};

// Floats that begin at a cache line.
struct AlignedDelete {
  static constexpr std::align_val_t kAlignment{64};
  void operator()(float* floats) const { ::operator delete[](floats, kAlignment); }
};
using AlignedFloats = std::unique_ptr<float[], AlignedDelete>;
AlignedFloats make_floats(std::size_t size);  // zeros

// Rows never move. Those of removed vectors are used again.
class VectorRows {
 public:
  explicit VectorRows(Distance distance) : distance_(distance) {}

  // Throws ValueError if one is empty or not as long as the others.
  void check(std::span<const Embedder::Vector> vectors) const;

  // The item has no rows yet, and its vectors are checked.
  void add(ItemId id, std::span<const Embedder::Vector> vectors);
  void remove(ItemId id);

  std::size_t items() const { return first_rows_.size(); }
  std::size_t vectors() const { return owners_.size() - free_.size(); }
  // One behind the last row that was ever used.
  Row end() const { return static_cast<Row>(owners_.size()); }

  // The rows of an item: the first one, and then from one to the next until kNoRow.
  Row first(ItemId id) const;
  Row next(Row row) const { return owners_[row].next; }
  bool is_used(Row row) const { return owners_[row].is_used; }
  bool is_first(Row row) const { return owners_[row].is_first; }
  ItemId owner(Row row) const { return owners_[row].id; }

  // A row has zeros behind the numbers of its vector, up to `width()`.
  const float* operator[](Row row) const {
    return blocks_[row >> rows_per_block_bits_].get() + (row & (rows_per_block() - 1)) * width_;
  }
  std::size_t width() const { return width_; }

  // `vector` as a row would hold it.
  AlignedFloats prepare(const Embedder::Vector& vector) const;

  // How near the nearest vector of the item is whose first row this is.
  double score(Row first, const float* prepared) const;

 private:
  struct Owner {
    ItemId id = 0;
    Row next = kNoRow;
    bool is_first = false;
    bool is_used = false;
  };

  Row rows_per_block() const { return Row{1} << rows_per_block_bits_; }
  float* at(Row row) { return const_cast<float*>(std::as_const(*this)[row]); }
  void set_length(std::size_t length);
  Row take_row();
  void fill(float* row, const Embedder::Vector& vector) const;
  double score_of_row(Row row, const float* prepared) const;

  const Distance distance_;
  const Kernels& kernels_ = kernels();
  std::size_t length_ = 0;  // of the vectors; 0 before the first one
  std::size_t width_ = 0;
  Row rows_per_block_bits_ = 0;
  std::vector<AlignedFloats> blocks_;
  std::vector<Owner> owners_;  // by row
  std::vector<Row> free_;
  std::unordered_map<ItemId, Row> first_rows_;
};

}  // namespace clew::store
