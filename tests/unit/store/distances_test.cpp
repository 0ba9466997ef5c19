#include "store/distances.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace clew::store {
namespace {

std::vector<float> random_floats(std::size_t size, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> floats(size);
  for (float& number : floats) number = normal(random);
  return floats;
}

struct Case {
  std::vector<float> a;
  std::vector<float> b;
  double dot = 0;
  double squared_distance = 0;
  double magnitude = 0;  // what rounding errors are measured by
};

Case make_case(std::size_t size, std::mt19937& random) {
  Case made{random_floats(size, random), random_floats(size, random)};
  for (std::size_t i = 0; i < size; ++i) {
    const double a = made.a[i];
    const double b = made.b[i];
    made.dot += a * b;
    made.squared_distance += (a - b) * (a - b);
    made.magnitude += a * a + b * b;
  }
  return made;
}

TEST(Distances, AreThoseOfDoublePrecision) {
  std::mt19937 random(7);
  for (const std::size_t size : {0, 1, 7, 8, 9, 31, 32, 33, 41, 384, 1536}) {
    const Case made = make_case(size, random);
    const double tolerance = 1e-6 * made.magnitude;
    for (const Kernels* tested : {&portable_kernels(), &kernels()}) {
      const float dot = tested->dot(made.a.data(), made.b.data(), size);
      EXPECT_NEAR(dot, made.dot, tolerance) << size;
      const float distance = tested->squared_distance(made.a.data(), made.b.data(), size);
      EXPECT_NEAR(distance, made.squared_distance, tolerance) << size;
    }
  }
}

TEST(Distances, NeedNoAlignment) {
  std::mt19937 random(7);
  const std::vector<float> floats = random_floats(65, random);
  const std::vector<float> moved(floats.begin() + 1, floats.end());
  EXPECT_EQ(kernels().dot(floats.data() + 1, moved.data(), 64),
            kernels().dot(moved.data(), moved.data(), 64));
  EXPECT_EQ(kernels().squared_distance(floats.data() + 1, moved.data(), 64), 0);
}

TEST(Distances, UseVectorInstructionsWhereThereAreSome) {
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  EXPECT_EQ(kernels().dot != portable_kernels().dot, has_avx2);
#else
  EXPECT_EQ(kernels().dot, portable_kernels().dot);
#endif
}

}  // namespace
}  // namespace clew::store
