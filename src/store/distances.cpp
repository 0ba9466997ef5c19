#include "store/distances.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace clew::store {

namespace {

struct Product {
  static float of(float a, float b) { return a * b; }
};

struct SquaredDifference {
  static float of(float a, float b) { return (a - b) * (a - b); }
};

// Sums side by side, which the compiler may turn into vector instructions.
template <class Term>
float sum_portably(const float* a, const float* b, std::size_t size) {
  constexpr std::size_t kLanes = 8;
  float sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += Term::of(a[i + lane], b[i + lane]);
    }
  }
  float sum = 0;
  for (; i < size; ++i) sum += Term::of(a[i], b[i]);
  for (const float lane : sums) sum += lane;
  return sum;
}

constexpr Kernels kPortable{sum_portably<Product>, sum_portably<SquaredDifference>};

#if defined(__x86_64__)

#define CLEW_AVX2 __attribute__((target("avx2,fma")))

constexpr std::size_t kLanes = 8;
// Multiplications that are under way at once; each takes a few cycles.
constexpr std::size_t kSums = 4;

CLEW_AVX2 float add_up(const __m256 (&sums)[kSums]) {
  const __m256 eight = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]),  //
                                     _mm256_add_ps(sums[2], sums[3]));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

CLEW_AVX2 float dot_avx2(const float* a, const float* b, std::size_t size) {
  __m256 sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums * kLanes <= size; i += kSums * kLanes) {
    for (std::size_t k = 0; k < kSums; ++k) {
      const std::size_t at = i + k * kLanes;
      sums[k] = _mm256_fmadd_ps(_mm256_loadu_ps(a + at), _mm256_loadu_ps(b + at), sums[k]);
    }
  }
  for (; i + kLanes <= size; i += kLanes) {
    sums[0] = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), sums[0]);
  }
  float sum = add_up(sums);
  for (; i < size; ++i) sum += Product::of(a[i], b[i]);
  return sum;
}

CLEW_AVX2 float squared_distance_avx2(const float* a, const float* b, std::size_t size) {
  __m256 sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums * kLanes <= size; i += kSums * kLanes) {
    for (std::size_t k = 0; k < kSums; ++k) {
      const std::size_t at = i + k * kLanes;
      const __m256 apart = _mm256_sub_ps(_mm256_loadu_ps(a + at), _mm256_loadu_ps(b + at));
      sums[k] = _mm256_fmadd_ps(apart, apart, sums[k]);
    }
  }
  for (; i + kLanes <= size; i += kLanes) {
    const __m256 apart = _mm256_sub_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i));
    sums[0] = _mm256_fmadd_ps(apart, apart, sums[0]);
  }
  float sum = add_up(sums);
  for (; i < size; ++i) sum += SquaredDifference::of(a[i], b[i]);
  return sum;
}

constexpr Kernels kAvx2{dot_avx2, squared_distance_avx2};

const Kernels& choose() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? kAvx2 : kPortable;
}

#else

const Kernels& choose() { return kPortable; }

#endif

}  // namespace

const Kernels& portable_kernels() { return kPortable; }

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace clew::store
