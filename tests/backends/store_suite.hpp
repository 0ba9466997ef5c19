// What every Store must do. A backend runs all of it by one line in its own
// test file, as for CheckpointerSuite.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <clew/store.hpp>

namespace clew {

struct StoreBackend {
  // Also its column in the store vectors.
  std::string name;

  // An empty store.
  std::function<std::shared_ptr<Store>(StoreOptions)> make;

  // Lets time pass for backends whose order depends on a coarse clock.
  std::function<void(double seconds)> wait = [](double) {};
};

inline void PrintTo(const StoreBackend& backend, std::ostream* out) { *out << backend.name; }

inline std::string store_backend_name(const testing::TestParamInfo<StoreBackend>& info) {
  return info.param.name;
}

class StoreSuite : public testing::TestWithParam<StoreBackend> {
 protected:
  std::shared_ptr<Store> make(StoreOptions options = {}) {
    return GetParam().make(std::move(options));
  }
  std::shared_ptr<Store> make_indexed(std::vector<std::string> fields = {"$"});
};

// Counts words in 16 places by their hash: texts with words in common are near
// each other. What the recorded scripts were made with.
std::vector<Embedder::Vector> embed_words(std::span<const std::string> texts);
inline constexpr std::size_t kWordDims = 16;

// "a/b:key", space separated.
std::string render(const std::vector<SearchItem>& items);
// The same, sorted.
std::string sorted(std::vector<SearchItem> items);

}  // namespace clew
