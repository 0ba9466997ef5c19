// A server with the routes that the tests of the HTTP layer use.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "server/http.hpp"
#include "server/test_client.hpp"

namespace clew::server {

using namespace std::chrono_literals;

// Waits until `condition` holds; false if it does not within ten seconds.
inline bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

struct TestServer {
  explicit TestServer(Router router, HttpOptions options = {})
      : server(std::move(router), std::move(options)) {
    server.start();
  }

  TestClient client(int receive_buffer = 0) { return TestClient(server.port(), receive_buffer); }

  HttpServer server;
};

inline Router echo_routes() {
  Router router;
  router.add("GET", "/ok", [](Request&) { return json_response({{"ok", true}}); },
             {.is_public = true, .runs_inline = true});
  router.add("POST", "/echo", [](Request& request) { return text_response(request.body); });
  router.add("GET", "/hello/{name}", [](Request& request) {
    return text_response("hello " + request.path_parameters.at("name"));
  });
  return router;
}

// A source that a test feeds.
class FedSource : public StreamSource {
 public:
  void start(Wake wake) override {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }

  StreamPiece next() override {
    const std::lock_guard lock(mutex_);
    ++asked_;
    return {std::exchange(waiting_, {}), is_ended_ ? StreamThen::end : StreamThen::wait};
  }

  void on_cut(StreamCut cut) override {
    const std::lock_guard lock(mutex_);
    cut_ = cut;
  }

  void feed(std::string_view bytes, bool is_last = false) {
    Wake wake;
    {
      const std::lock_guard lock(mutex_);
      waiting_ += bytes;
      is_ended_ = is_last;
      wake = wake_;
    }
    wake();
  }

  void end() { feed({}, true); }

  std::optional<StreamCut> cut() {
    const std::lock_guard lock(mutex_);
    return cut_;
  }

  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::mutex mutex_;
  Wake wake_;
  std::string waiting_;
  bool is_ended_ = false;
  int asked_ = 0;
  std::optional<StreamCut> cut_;
};

inline void add_stream(Router& router, const std::string& path,
                       const std::shared_ptr<StreamSource>& source, Heartbeat heartbeat = {}) {
  router.add("GET", path, [source, heartbeat](Request&) {
    return Response{.headers = {{"content-type", std::string(kEventStreamType)}},
                    .stream = source,
                    .heartbeat = heartbeat};
  });
}

}  // namespace clew::server
