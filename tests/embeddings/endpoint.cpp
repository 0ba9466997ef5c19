#include "embeddings/endpoint.hpp"

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include <clew/json.hpp>

#include "store/embeddings/http_client.hpp"
#include "store/embeddings/openai_embedder.hpp"

namespace clew::embeddings {

namespace {

std::string server_url() {
  const char* url = std::getenv("OPENAI_BASE_URL");
  if (!url) throw Error("run this under tests/embeddings/server.py");
  return url;
}

std::string name_of_running_test() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  std::ranges::replace(name, '/', '.');
  return name;
}

}  // namespace

Endpoint::Endpoint(std::string_view behaviour)
    : base_url_(server_url() + "/" + std::string(behaviour) + "/" + name_of_running_test()) {}

std::shared_ptr<Embedder> Endpoint::embedder(EmbeddingsOptions options) {
  options.base_url = base_url_;
  const auto note = [waits = waits_](std::chrono::milliseconds duration, const std::stop_token&) {
    const std::lock_guard lock(waits->mutex);
    waits->durations.push_back(duration);
  };
  return std::make_shared<OpenAiEmbedder>("test", std::move(options), note);
}

std::vector<std::chrono::milliseconds> Endpoint::waits() const {
  const std::lock_guard lock(waits_->mutex);
  return waits_->durations;
}

Value Endpoint::requests() const {
  return parse_json(HttpClient({}).post({base_url_ + "/requests", {}, "{}"}).body);
}

std::string Endpoint::without_address(std::string text) const {
  const std::string address = endpoint_of(base_url_);
  for (std::size_t at = 0; (at = text.find(address)) != std::string::npos;) {
    text.replace(at, address.size(), "SERVER");
  }
  return text;
}

Embedder::Vector vector_of(std::string_view text) {
  return {static_cast<float>(text.size()), static_cast<float>(text.front()), 1};
}

}  // namespace clew::embeddings
