#include <condition_variable>
#include <mutex>
#include <thread>

#include <clew/errors.hpp>
#include <clew/thread_care.hpp>

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
  Worker(std::shared_ptr<Checkpointer> checkpointer, TtlOptions ttl_options)
      : saver(std::move(checkpointer)), options(ttl_options) {}

  void run(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any waited;
    while (!stop.stop_requested()) {
      try {
        sweep_threads(*saver, options);
      } catch (const Error&) {
        // A file that is locked or a server that is away; the next sweep does it.
      }
      waited.wait_for(lock, stop, options.sweep_interval, [] { return false; });
    }
  }

  const std::shared_ptr<Checkpointer> saver;
  const TtlOptions options;
  std::jthread thread{[this](const std::stop_token& stop) { run(stop); }};
};

Sweeper::Sweeper(std::shared_ptr<Checkpointer> saver, TtlOptions options)
    : worker_(std::make_unique<Worker>(std::move(saver), options)) {}

Sweeper::~Sweeper() = default;

}  // namespace clew
