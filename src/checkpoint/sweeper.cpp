#include <clew/errors.hpp>
#include <clew/thread_care.hpp>

#include "value/repeating_thread.hpp"

namespace clew {

std::size_t sweep_threads(Checkpointer& saver, const TtlOptions& options) {
  ThreadQuery query;
  query.updated_before = std::chrono::system_clock::now() - options.ttl;
  const bool deletes = options.strategy == TtlStrategy::delete_thread;
  std::size_t swept = 0;
  for (const ThreadInfo& thread : saver.list_threads(query)) {
    try {
      saver.prune(thread.thread_id,
                  {.keep = deletes ? 0U : 1U, .expected_head = thread.checkpoint_id});
      ++swept;
    } catch (const ThreadConflict&) {
      // It was not too old after all.
    }
  }
  return swept;
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
