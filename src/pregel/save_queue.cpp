#include "pregel/save_queue.hpp"

namespace clew::pregel {

struct SaveQueue::Work {
  std::mutex mutex;
  std::condition_variable done;
  std::deque<std::function<void()>> queue;
  enum { idle, posted, running } state = idle;
  std::exception_ptr error;

  // Works the queue off, unless another thread has begun to.
  static void run(const std::shared_ptr<Work>& work) {
    std::unique_lock lock(work->mutex);
    if (work->state != posted) return;
    work->state = running;
    while (!work->queue.empty()) {
      std::function<void()> save = std::move(work->queue.front());
      work->queue.pop_front();
      if (work->error) continue;
      lock.unlock();
      std::exception_ptr error;
      try {
        save();
      } catch (...) {
        error = std::current_exception();
      }
      save = nullptr;
      lock.lock();
      if (error) work->error = error;
    }
    work->state = idle;
    work->done.notify_all();
  }
};

SaveQueue::SaveQueue(std::shared_ptr<Checkpointer> checkpointer, Executor& executor, bool overlap)
    : checkpointer_(std::move(checkpointer)),
      executor_(executor),
      in_background_(overlap && checkpointer_ && checkpointer_->waits_for_device()) {
  if (in_background_) work_ = std::make_shared<Work>();
}

void SaveQueue::add(std::function<void()> save) {
  if (!in_background_) return save();
  {
    const std::lock_guard lock(work_->mutex);
    work_->queue.push_back(std::move(save));
    if (work_->state != Work::idle) return;
    work_->state = Work::posted;
  }
  executor_.post([work = work_] { Work::run(work); });
}

void SaveQueue::put(CheckpointPut put) {
  if (!in_background_) return checkpointer_->put({&put, 1});
  add([saver = checkpointer_, put = std::move(put)] { saver->put({&put, 1}); });
}

void SaveQueue::put_writes(CheckpointKey key, std::vector<ChannelWrite> writes,
                           std::string_view task_id, std::string_view task_path) {
  if (!in_background_) return checkpointer_->put_writes(key, writes, task_id, task_path);
  add([saver = checkpointer_, key = std::move(key), writes = std::move(writes),
       task = std::string(task_id),
       path = std::string(task_path)] { saver->put_writes(key, writes, task, path); });
}

void SaveQueue::wait() noexcept {
  if (!work_) return;
  // Whoever waits works: no thread may be free for it while all of them wait.
  Work::run(work_);
  std::unique_lock lock(work_->mutex);
  work_->done.wait(lock, [this] { return work_->state == Work::idle; });
}

void SaveQueue::flush() {
  if (!work_) return;
  wait();
  const std::lock_guard lock(work_->mutex);
  if (work_->error) std::rethrow_exception(std::exchange(work_->error, nullptr));
}

}  // namespace clew::pregel
