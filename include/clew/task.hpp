// Task<T> is the result of a coroutine: it starts when awaited and resumes its
// awaiter when done. Executor is where coroutines and the tasks of a super-step run.
//
//   Task<Value> fetch(std::string url);
//   graph.add_node("fetch", [](const State& state, Runtime& runtime) -> Task<Update> {
//     Value page = co_await fetch(state.url);
//     Update update;
//     update.set("page", std::move(page));
//     co_return update;
//   });
//
// A Task has one owner and is awaited once; once started it must live to its end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace clew {

template <class T>
class Task;

namespace detail {

// Resumes whoever awaited the task; the end of the chain simply stops.
struct FinalAwaiter {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> task) noexcept {
    return task.promise().continuation;
  }
  void await_resume() const noexcept {}
};

struct TaskPromiseBase {
  std::suspend_always initial_suspend() noexcept { return {}; }
  FinalAwaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }

  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::exception_ptr error;
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    if (error) std::rethrow_exception(error);
    return std::move(*value);
  }

  std::optional<T> value;
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object();
  void return_void() noexcept {}
  void take() {
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using value_type = T;

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
    handle_.promise().continuation = awaiter;
    return handle_;
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

namespace detail {
template <class T>
Task<T> TaskPromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<TaskPromise<T>>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise<void>>::from_promise(*this));
}
}  // namespace detail

// Runs functions, now or later, on threads of its own. All methods may be
// called from any thread; functions must not throw.
class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  virtual void post(std::function<void()> function) = 0;
  virtual void post_after(std::chrono::nanoseconds delay, std::function<void()> function) = 0;

  // The threads that would run posted functions at once if all were busy computing.
  virtual std::size_t parallelism() const = 0;
};

// The executor of the process: threads appear as they are needed and rest when
// they are not. It lives until the process ends.
Executor& default_executor();

namespace detail {

// Set once, by whichever thread ends a task; another waits for it.
class Ended {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    is_set_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

// A coroutine that nobody awaits: it starts at once and ends by itself.
struct Detached {
  struct promise_type {
    Detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

template <class T>
Detached run_and_tell(Task<T>& task, std::optional<T>& result, std::exception_ptr& error,
                      std::shared_ptr<Ended> ended) {
  try {
    T value = co_await std::move(task);
    result.emplace(std::move(value));
  } catch (...) {
    error = std::current_exception();
  }
  ended->set();
}

inline Task<bool> with_result(Task<void> task) {
  co_await std::move(task);
  co_return true;
}

}  // namespace detail

// Starts a task in this thread and waits for its end, for those that are not
// coroutines themselves:
//   Value result = wait(graph.async_invoke(input, thread));
template <class T>
T wait(Task<T> task) {
  std::optional<T> result;
  std::exception_ptr error;
  const auto ended = std::make_shared<detail::Ended>();
  detail::run_and_tell(task, result, error, ended);
  ended->wait();
  if (error) std::rethrow_exception(error);
  return std::move(*result);
}
inline void wait(Task<void> task) { wait(detail::with_result(std::move(task))); }

}  // namespace clew
