#include <clew/store.hpp>

#include "value/repeating_thread.hpp"

namespace clew {

struct StoreSweeper::Worker {
  internal::RepeatingThread thread;
};

StoreSweeper::StoreSweeper(std::shared_ptr<Store> store, std::chrono::milliseconds interval)
    : worker_(new Worker{{interval, [store = std::move(store)] { store->sweep_ttl(); }}}) {}

StoreSweeper::~StoreSweeper() = default;

}  // namespace clew
