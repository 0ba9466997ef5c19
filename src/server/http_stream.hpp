// Streams are pulled: a source is asked for bytes when the client's socket took
// the last ones, so a slow client holds up nobody and costs no memory.
//
//   class Counter : public StreamSource {
//    public:
//     void start(Wake wake) override { subscription_ = clock.every_second(std::move(wake)); }
//     StreamPiece next() override { return {std::to_string(clock.now()) + "\n", StreamThen::wait}; }
//     ...
//   };
//   router.add("GET", "/clock", [](Request&) {
//     return Response{.headers = {{"content-type", "text/plain"}}, .stream = std::make_shared<Counter>()};
//   });
//
// An idle stream has no thread and no buffer.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace clew::server {

// What a Wake points to; the connection implements it.
class WakeTarget {
 public:
  virtual ~WakeTarget() = default;
  virtual void wake() noexcept = 0;
};

// Tells a connection that its source has something to say. May be copied,
// called from any thread at any time, also after the stream ended or the server
// stopped; calls that come before the source is asked again are one.
class Wake {
 public:
  Wake() = default;
  explicit Wake(std::shared_ptr<WakeTarget> target) : target_(std::move(target)) {}

  void operator()() const noexcept {
    if (target_) target_->wake();
  }

 private:
  std::shared_ptr<WakeTarget> target_;
};

// When the source is asked next.
enum class StreamThen {
  more,  // as soon as the client took these bytes
  wait,  // after a wake()
  end,   // never: these are the last bytes
};

struct StreamPiece {
  std::string bytes{};  // may be empty
  StreamThen then = StreamThen::wait;
};

// Why a stream ended before its source did.
enum class StreamCut {
  client_left,     // closed its connection, or took nothing for HttpOptions::write_timeout
  server_stopped,  // the client gets a proper end of the body, if it takes it in time, unless
                   // the response is all or nothing
};

// All methods are called on worker threads, one at a time. None may wait for
// something that the client or a graph does. A method that throws ends the
// connection without the proper end, so that the client knows.
class StreamSource {
 public:
  StreamSource() = default;
  StreamSource(const StreamSource&) = delete;
  StreamSource& operator=(const StreamSource&) = delete;
  virtual ~StreamSource() = default;

  // Called once, before all others.
  virtual void start(Wake wake) = 0;

  // The next bytes. A wake() during the call counts: the source is asked again.
  virtual StreamPiece next() = 0;

  // Called at most once, and then nothing else is. Not called after StreamThen::end.
  virtual void on_cut(StreamCut) {}
};

}  // namespace clew::server
