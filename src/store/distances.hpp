// The sums behind the distances of vectors, as fast as the processor allows.
#pragma once

#include <cstddef>

namespace clew::store {

struct Kernels {
  using Function = float (*)(const float* a, const float* b, std::size_t size);

  Function dot;
  Function squared_distance;
};

// For every processor.
const Kernels& portable_kernels();

// The fastest that this processor can run.
const Kernels& kernels();

}  // namespace clew::store
