// A disk that goes wrong at the n-th operation. It stands between SQLite and the
// real files, and knows what of them was synced.
#pragma once

#include <cstdint>

#include <clew/convert.hpp>

namespace clew::fault {

enum class Fault {
  none,
  io_error,    // the operation fails
  read_error,  // the same for reading
  torn_write,  // half of what is to be written gets there, then it fails
  disk_full,   // nothing can be written or made
  power_loss,  // the process ends; of what was not synced, the seed decides what is kept
};
CLEW_ENUM(Fault, none, io_error, read_error, torn_write, disk_full, power_loss)

struct FaultPlan {
  Fault fault = Fault::none;
  std::uint64_t at = 0;    // the operation, counted from 1; 0: never
  bool stays = false;      // from then on all operations fail, not only this one
  std::uint64_t seed = 0;  // 0: nothing is kept that was not synced
};

// For all files that this process opens from now on. Once per process.
void install_faulty_disk(const FaultPlan& plan);

// How many there were: opening, writing, syncing, truncating and deleting count;
// for a plan of read errors, reading alone.
std::uint64_t disk_operations();

}  // namespace clew::fault
