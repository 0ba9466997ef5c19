// An endpoint of server.py that behaves as told, for the running test alone.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <clew/embeddings.hpp>

namespace clew::embeddings {

class Endpoint {
 public:
  explicit Endpoint(std::string_view behaviour);

  const std::string& base_url() const { return base_url_; }

  // An embedder of model "test" that asks this endpoint. It never waits between
  // retries, but notes how long it would have.
  std::shared_ptr<Embedder> embedder(EmbeddingsOptions options = {});
  std::vector<std::chrono::milliseconds> waits() const;

  // What came here so far: [{"port", "target", "headers", "body"}].
  Value requests() const;

  // `text` with SERVER in place of the host and port.
  std::string without_address(std::string text) const;

 private:
  struct Waits {
    std::mutex mutex;
    std::vector<std::chrono::milliseconds> durations;
  };

  std::string base_url_;
  std::shared_ptr<Waits> waits_ = std::make_shared<Waits>();
};

// What the server makes of `text`.
Embedder::Vector vector_of(std::string_view text);

}  // namespace clew::embeddings
