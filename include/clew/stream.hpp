// What a run tells while it runs.
//
//   for (const StreamEvent& event : graph.stream(input, thread, {.modes = {StreamMode::updates}})) {
//     std::cout << event.data << '\n';            // {"node_a": {"foo": "a"}}
//   }
//
// mode          data
// values        the state after a step
// updates       {node: what it wrote}, as each task finishes; {"__interrupt__": [...]}
// custom        what nodes gave to Runtime::stream_writer
// messages      [message, metadata] for each message that a node wrote or streamed
// tasks         a task starts or has a result
// checkpoints   a checkpoint as it is made
// debug         tasks and checkpoints, with step and time
#pragma once

#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <clew/task.hpp>
#include <clew/types.hpp>

namespace clew {

struct StreamEvent {
  StreamMode mode = StreamMode::values;
  // The subgraph it is from, as the segments of its namespace; empty for the root.
  std::vector<std::string> ns = {};
  Value data = {};
};

struct StreamOptions {
  std::vector<StreamMode> modes = {StreamMode::values};
  // Also the events of subgraphs.
  bool subgraphs = false;
};

// The events of a run, in order, once. An error of the run is thrown where its event
// would be. With the modes values, updates and checkpoints, and without subgraphs, it
// is reading that runs the graph: a step begins when the events of the one before are
// read, in the reader's thread if that serves. With other modes, and for async_next(),
// the run goes ahead of its reader. If the Stream is dropped before its end, the run is
// cancelled: what was read has happened, and no further step begins.
class Stream {
 public:
  class Queue;

  explicit Stream(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}
  Stream(Stream&&) noexcept = default;
  Stream& operator=(Stream&& other) noexcept {
    Stream dropped(std::move(*this));
    queue_ = std::move(other.queue_);
    return *this;
  }
  ~Stream();

  class Iterator {
   public:
    using value_type = StreamEvent;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(Queue* queue) : queue_(queue) { ++*this; }
    const StreamEvent& operator*() const { return event_; }
    const StreamEvent* operator->() const { return &event_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& a, std::default_sentinel_t) {
      return a.queue_ == nullptr;
    }

   private:
    Queue* queue_ = nullptr;
    StreamEvent event_;
  };

  Iterator begin() { return Iterator(queue_.get()); }
  std::default_sentinel_t end() const { return {}; }

  // The next event, or nothing at the end of the run; throws its error. For one
  // coroutine at a time:
  //   while (std::optional<StreamEvent> event = co_await stream.async_next()) ...
  Task<std::optional<StreamEvent>> async_next();

 private:
  static Task<std::optional<StreamEvent>> next_of(std::shared_ptr<Queue> queue);

  std::shared_ptr<Queue> queue_;
};

}  // namespace clew
