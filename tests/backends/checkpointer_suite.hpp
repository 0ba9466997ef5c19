// What every Checkpointer must do. A backend runs all of it by one line in its
// own test file:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, CheckpointerSuite, testing::Values(SaverBackend{
//       .name = "memory", .make = [] { return std::make_shared<InMemorySaver>(); }}),
//       backend_name);
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <clew/checkpointer.hpp>

#include "checkpointer_pieces.hpp"

namespace clew {

struct SaverBackend {
  // Also its column in the saver vectors.
  std::string name;

  // A saver without threads.
  std::function<std::shared_ptr<Checkpointer>()> make;
};

inline void PrintTo(const SaverBackend& backend, std::ostream* out) { *out << backend.name; }

inline std::string backend_name(const testing::TestParamInfo<SaverBackend>& info) {
  return info.param.name;
}

class CheckpointerSuite : public testing::TestWithParam<SaverBackend> {
 protected:
  CheckpointerSuite() : saver_(GetParam().make()) {}

  std::shared_ptr<Checkpointer> saver_;
};

}  // namespace clew
