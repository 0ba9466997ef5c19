#include <clew/thread_care.hpp>

#include "value/repeating_thread.hpp"

namespace clew {

std::size_t sweep_threads(Checkpointer& saver, const TtlOptions& options) {
  ThreadQuery query;
  query.updated_before = std::chrono::system_clock::now() - options.ttl;
  const std::vector<ThreadInfo> expired = saver.list_threads(query);
  for (const ThreadInfo& thread : expired) {
    if (options.strategy == TtlStrategy::delete_thread) {
      saver.delete_thread(thread.thread_id);
    } else {
      saver.prune(thread.thread_id, {});
    }
  }
  return expired.size();
}

struct Sweeper::Worker {
  internal::RepeatingThread thread;
};

Sweeper::Sweeper(std::shared_ptr<Checkpointer> saver, TtlOptions options)
    : worker_(new Worker{{options.sweep_interval, [saver = std::move(saver), options] {
                            sweep_threads(*saver, options);
                          }}}) {}

Sweeper::~Sweeper() = default;

}  // namespace clew
