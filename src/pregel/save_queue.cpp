#include "pregel/save_queue.hpp"

#include <iterator>
#include <utility>

namespace clew::pregel {

struct SaveQueue::Work : std::enable_shared_from_this<Work> {
  Work(std::shared_ptr<Checkpointer> saver, std::shared_ptr<Work> around)
      : checkpointer(std::move(saver)), parent(std::move(around)) {}

  const std::shared_ptr<Checkpointer> checkpointer;
  const std::shared_ptr<Work> parent;  // null: nothing has to be stored before
  std::mutex mutex;
  std::condition_variable done;
  CheckpointPuts puts;
  std::vector<WritesPut> writes;  // made after the puts
  bool writes_are_due = false;    // else they wait for the next put
  enum { idle, posted, running } state = idle;
  std::function<void()> go_on;  // of a run that left its thread until then
  std::exception_ptr error;

  bool has_work() const { return !puts.empty() || (writes_are_due && !writes.empty()); }

  void add(CheckpointPut&& put) {
    puts.reserve(kFewPuts);
    put.writes = std::exchange(writes, {});
    writes_are_due = false;
    puts.push_back(std::move(put));
  }

  SaveBatch take_batch() {
    SaveBatch batch{.puts = std::exchange(puts, {}), .writes = {}};
    if (std::exchange(writes_are_due, false)) batch.writes = std::exchange(writes, {});
    return batch;
  }

  // Waits to be worked off, and was not flushed meanwhile.
  bool is_posted() {
    const std::lock_guard lock(mutex);
    return state == posted;
  }

  void post(Executor& executor) {
    executor.post([self = shared_from_this()] {
      std::unique_lock lock(self->mutex);
      if (self->state != posted) return;
      self->drain(lock);
      self->let_go_on(std::move(lock));
    });
  }

  // Stores what is there, and what comes meanwhile.
  void drain(std::unique_lock<std::mutex>& lock) {
    state = running;
    while (has_work()) {
      const SaveBatch batch = take_batch();
      if (error) continue;
      lock.unlock();
      const std::exception_ptr failure = store(batch);
      lock.lock();
      if (failure) error = failure;
    }
    become_idle();
  }

  void become_idle() {
    state = idle;
    done.notify_all();
  }

  // Without the lock: the run may end, and let go of this.
  void let_go_on(std::unique_lock<std::mutex> lock) {
    const std::function<void()> left = std::exchange(go_on, nullptr);
    lock.unlock();
    if (left) left();
  }

  std::exception_ptr store(const SaveBatch& batch) noexcept {
    try {
      if (parent) parent->flush();
      pregel::store(*checkpointer, batch.puts, batch.writes);
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  void store_in(SaveGroup& group, std::unique_lock<std::mutex>& lock) {
    state = running;
    SaveBatch batch = take_batch();
    lock.unlock();
    group.store(std::move(batch), [self = shared_from_this()](std::exception_ptr failure) {
      std::unique_lock stored(self->mutex);
      if (failure) self->error = std::move(failure);
      self->become_idle();
      self->let_go_on(std::move(stored));
    });
    lock.lock();
  }

  // False if something stands against it: some are being stored, or could not be, or
  // what tasks wrote after the last of them must be stored now.
  bool hand_over() {
    const std::lock_guard lock(mutex);
    if (!parent || parent->checkpointer != checkpointer) return false;
    if (state == running || error || !writes.empty()) return false;
    state = idle;
    parent->adopt(std::exchange(puts, {}));
    return true;
  }

  void adopt(CheckpointPuts adopted) {
    const std::lock_guard lock(mutex);
    puts.insert(puts.end(), std::make_move_iterator(adopted.begin()),
                std::make_move_iterator(adopted.end()));
  }

  bool flush_or_leave(SaveGroup& group, std::function<void()> then) {
    std::unique_lock lock(mutex);
    writes_are_due = true;
    if (state != running && has_work() && !error) store_in(group, lock);
    if (state == running) {
      go_on = std::move(then);
      return false;
    }
    if (error) std::rethrow_exception(error);
    return true;
  }

  void flush() {
    std::unique_lock lock(mutex);
    writes_are_due = true;
    // Whoever waits works: no thread may be free for it while all of them wait.
    if (state != running) drain(lock);
    done.wait(lock, [this] { return state == idle; });
    if (error) std::rethrow_exception(error);
  }
};

// Under `exit` the graph around stores nothing before its end.
SaveQueue::SaveQueue(std::shared_ptr<Checkpointer> checkpointer, Executor& executor, Watch& watch,
                     Durability durability, const SaveQueue* parent)
    : checkpointer_(std::move(checkpointer)),
      executor_(executor),
      watch_(watch),
      is_async_(durability == Durability::async),
      work_(checkpointer_ && checkpointer_->waits_for_device()
                ? std::make_shared<Work>(checkpointer_, parent && durability != Durability::exit
                                                            ? parent->work_
                                                            : nullptr)
                : nullptr) {}

SaveQueue::~SaveQueue() {
  try {
    flush();
  } catch (...) {
    // Whoever had to know has called flush() before.
  }
}

void SaveQueue::put(CheckpointPut&& put) {
  if (!work_) {
    if (error_) std::rethrow_exception(error_);
    put.writes = std::exchange(with_next_, {});
    return checkpointer_->put({&put, 1});
  }
  {
    const std::lock_guard lock(work_->mutex);
    work_->add(std::move(put));
  }
  if (is_async_) begin();
}

void SaveQueue::put_writes(WritesPut&& put, bool soon) {
  if (!work_) return put_writes_now(put);
  {
    const std::lock_guard lock(work_->mutex);
    work_->writes.push_back(std::move(put));
    if (!soon) return;
    work_->writes_are_due = true;
  }
  begin();
}

void SaveQueue::put_writes_now(const WritesPut& put) noexcept {
  try {
    checkpointer_->put_writes({&put, 1});
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void SaveQueue::put_with_next(WritesPut&& put) {
  if (work_) return put_writes(std::move(put), false);
  with_next_.push_back(std::move(put));
}

void SaveQueue::begin() {
  {
    const std::lock_guard lock(work_->mutex);
    if (work_->state != Work::idle) return;
    work_->state = Work::posted;
  }
  // Weak, so that nobody waits for the watch to let go of the checkpointer: a queue that is
  // gone has stored everything.
  watch_.add(executor_, [posted = std::weak_ptr(work_), &executor = executor_] {
    const std::shared_ptr<Work> work = posted.lock();
    if (work && work->is_posted()) work->post(executor);
    return false;
  });
}

bool SaveQueue::flush_or_leave(SaveGroup& group, std::function<void()> then) {
  // The run may be over, and this queue gone, before the call has returned.
  if (const std::shared_ptr<Work> work = work_) return work->flush_or_leave(group, std::move(then));
  flush();
  return true;
}

bool SaveQueue::hand_over() { return work_ && work_->hand_over(); }

void SaveQueue::flush() {
  if (!work_) {
    if (error_) std::rethrow_exception(error_);
    if (with_next_.empty()) return;
    const std::vector<WritesPut> left = std::exchange(with_next_, {});
    return checkpointer_->put_writes(left);
  }
  work_->flush();
}

}  // namespace clew::pregel
