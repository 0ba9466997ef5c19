// A server on a file of its own, without HTTP, and short ways to use it.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <clew/sqlite_saver.hpp>

#include "server/agent_server.hpp"
#include "server/service_error.hpp"
#include "temporary_folder.hpp"

namespace clew::server {

// Keeps what would be sent.
class RecordedWebhooks final : public WebhookSender {
 public:
  void send(const std::string& url, const Value& body, std::function<void(bool)> done) override;

  // The `count`-th that was sent, once it was.
  std::pair<std::string, Value> wait_for(std::size_t count);
  // How many of the next ones the receiver does not take.
  int refusals = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, Value>> sent_;
};

class TestServer {
 public:
  explicit TestServer(ServiceOptions options = {});
  // On a file that is there already. `before_commit` is called whenever something
  // is about to be stored.
  TestServer(const std::string& path, ServiceOptions options,
             std::function<void()> before_commit = {});

  // Ends this server, as SIGTERM does, and starts another one on the same file.
  // Those who read its streams have left.
  void restart();

  Value create_thread(const Value& body = object());
  std::string thread_id() { return create_thread()["thread_id"].get<std::string>(); }
  StartedRun create(const std::string& thread_id, const Value& body);
  Value wait(const std::string& thread_id, const Value& body);  // POST /runs/wait
  Value wait_stateless(const Value& body);
  Value join(const std::string& thread_id, const std::string& run_id);
  // "event data" of each event until the end, one per line.
  std::string stream(const std::string& thread_id, const Value& body);
  Value thread(const std::string& thread_id);
  Value run(const std::string& thread_id, const std::string& run_id);
  Value state(const std::string& thread_id);
  // The statuses of the thread's runs, newest first.
  std::string statuses(const std::string& thread_id);

  std::optional<TemporaryFolder> folder;  // unless the file is given
  std::string path;
  Caller caller;
  ServiceOptions options;
  std::shared_ptr<RecordedWebhooks> webhooks = std::make_shared<RecordedWebhooks>();
  std::shared_ptr<Store> store;
  std::shared_ptr<SqliteSaver> saver;
  std::unique_ptr<AgentServer> server;

 private:
  void start();

  std::function<void()> before_commit_;
};

// All events until the reader is over.
std::vector<Event> read_all(EventReader& reader);
// The next `count` events, or fewer if it is over.
std::vector<Event> read_some(EventReader& reader, std::size_t count);
std::string render(const std::vector<Event>& events);

// Waits for a value that somebody else sets.
template <class T>
class Promised {
 public:
  std::function<void(T)> setter() {
    return [shared = shared_](T value) {
      const std::lock_guard lock(shared->mutex);
      shared->value = std::move(value);
      shared->changed.notify_all();
    };
  }
  T get() {
    std::unique_lock lock(shared_->mutex);
    if (!shared_->changed.wait_for(lock, std::chrono::seconds(30),
                                   [this] { return shared_->value.has_value(); })) {
      throw Error("nothing came within 30 seconds");
    }
    return *shared_->value;
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<T> value;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

// "404 detail" of what `call` throws; "" if it does not.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
    return "";
  } catch (const ServiceError& error) {
    return std::to_string(error.status()) + " " + error.detail();
  }
}

template <class Call>
int status_of(const Call& call) {
  try {
    call();
    return 200;
  } catch (const ServiceError& error) {
    return error.status();
  }
}

}  // namespace clew::server
