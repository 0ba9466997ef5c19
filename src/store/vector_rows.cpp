#include "store/vector_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include <clew/errors.hpp>

namespace clew::store {

AlignedFloats make_floats(std::size_t size) {
  AlignedFloats floats(
      static_cast<float*>(::operator new[](size * sizeof(float), AlignedDelete::kAlignment)));
  std::fill_n(floats.get(), size, 0.0F);
  return floats;
}

void VectorRows::check(std::span<const Embedder::Vector> vectors) const {
  for (const Embedder::Vector& vector : vectors) {
    if (vector.empty()) throw ValueError("the embedder made a vector without numbers");
    const std::size_t length = length_ != 0 ? length_ : vectors.front().size();
    if (vector.size() == length) continue;
    throw ValueError("a vector of length " + std::to_string(vector.size()) +
                     " cannot be compared with vectors of length " + std::to_string(length) +
                     "; use one model for all items");
  }
}

void VectorRows::add(ItemId id, std::span<const Embedder::Vector> vectors) {
  if (vectors.empty()) return;
  set_length(vectors.front().size());
  Row next = kNoRow;
  for (const Embedder::Vector& vector : vectors) {
    const Row row = take_row();
    fill(at(row), vector);
    owners_[row] = {.id = id, .next = next, .is_used = true};
    next = row;
  }
  owners_[next].is_first = true;
  first_rows_.emplace(id, next);
}

void VectorRows::remove(ItemId id) {
  Row row = first(id);
  first_rows_.erase(id);
  while (row != kNoRow) {
    const Row next = owners_[row].next;
    owners_[row] = {};
    free_.push_back(row);
    row = next;
  }
}

Row VectorRows::first(ItemId id) const {
  const auto found = first_rows_.find(id);
  return found == first_rows_.end() ? kNoRow : found->second;
}

AlignedFloats VectorRows::prepare(const Embedder::Vector& vector) const {
  AlignedFloats prepared = make_floats(width_);
  fill(prepared.get(), vector);
  return prepared;
}

double VectorRows::score(Row first, const float* prepared) const {
  double best = score_of_row(first, prepared);
  for (Row row = next(first); row != kNoRow; row = next(row)) {
    best = std::max(best, score_of_row(row, prepared));
  }
  return best;
}

void VectorRows::set_length(std::size_t length) {
  if (length_ != 0) return;
  constexpr std::size_t kFloatsPerLine = 16;
  constexpr std::size_t kFloatsPerBlock = 65'536;
  length_ = length;
  width_ = (length + kFloatsPerLine - 1) / kFloatsPerLine * kFloatsPerLine;
  const std::size_t rows = std::max<std::size_t>(1, kFloatsPerBlock / width_);
  rows_per_block_bits_ = static_cast<Row>(std::bit_width(rows) - 1);
}

Row VectorRows::take_row() {
  if (!free_.empty()) {
    const Row row = free_.back();
    free_.pop_back();
    return row;
  }
  const Row row = end();
  if (row == kNoRow) throw ValueError("an index holds no more than 4,294,967,295 vectors");
  if (row >> rows_per_block_bits_ == blocks_.size()) {
    blocks_.push_back(make_floats(rows_per_block() * width_));
  }
  owners_.emplace_back();
  return row;
}

// For the cosine all vectors are made as long as 1; those without a direction
// become zeros, which are like nothing.
void VectorRows::fill(float* row, const Embedder::Vector& vector) const {
  double scale = 1;
  if (distance_ == Distance::cosine) {
    double squares = 0;
    for (const float number : vector) squares += static_cast<double>(number) * number;
    scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  }
  std::ranges::transform(vector, row, [scale](float number) {
    return static_cast<float>(static_cast<double>(number) * scale);
  });
}

double VectorRows::score_of_row(Row row, const float* prepared) const {
  const bool is_l2 = distance_ == Distance::l2;
  const auto sum = is_l2 ? kernels_.squared_distance : kernels_.dot;
  const double result = static_cast<double>(sum((*this)[row], prepared, width_));
  const double score = is_l2 ? -std::sqrt(result) : result;
  // Numbers that are too large for floats, or none, are like nothing.
  constexpr double kWorst = -std::numeric_limits<float>::max();
  return score >= kWorst ? score : kWorst;
}

}  // namespace clew::store
