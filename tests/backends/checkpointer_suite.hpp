// What every Checkpointer must do. A backend runs all of it by one entry in
// saver_backends.cpp, which also says what it does differently on purpose.
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
  std::string name;

  // Its column in the saver vectors.
  std::string recorded_as;

  // A saver without threads.
  std::function<std::shared_ptr<Checkpointer>()> make;

  // Whether a checkpoint has the values of its channels' versions, whoever
  // stored them. Otherwise it has exactly those that it was put with.
  bool shares_values = true;

  // Whether a repeated control write takes the last value also if its task wrote
  // something else with it. Otherwise that call keeps everything that is stored.
  bool settles_writes_one_by_one = true;

  // Whether a thread is listed namespace by namespace. Otherwise by id alone.
  bool lists_by_namespace = true;
};

inline void PrintTo(const SaverBackend& backend, std::ostream* out) { *out << backend.name; }

inline std::string backend_name(const testing::TestParamInfo<SaverBackend>& info) {
  return info.param.name;
}

class CheckpointerSuite : public testing::TestWithParam<SaverBackend> {
 protected:
  CheckpointerSuite() : saver_(GetParam().make()) {}

  // `put` as the engine hands it to this backend, if its other channels have
  // the values of `before`.
  CheckpointPut inheriting(CheckpointPut put, const CheckpointPut& before) const;

  std::shared_ptr<Checkpointer> saver_;
};

}  // namespace clew
