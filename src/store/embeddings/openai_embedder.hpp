// An Embedder that asks an OpenAI-compatible endpoint.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <clew/embeddings.hpp>

#include "store/embeddings/backoff.hpp"
#include "store/embeddings/http_client.hpp"

namespace clew::embeddings {

using Wait = std::function<void(std::chrono::milliseconds, const std::stop_token&)>;

class OpenAiEmbedder final : public Embedder {
 public:
  // `options` are complete: nothing is looked up in the environment any more.
  // Throws ValueError for those that make no sense. Tests bring their own `wait`.
  OpenAiEmbedder(std::string model, EmbeddingsOptions options, Wait wait = wait_for);

  std::vector<Vector> embed_documents(std::span<const std::string> texts) override;

 private:
  // Why one attempt did not succeed.
  struct Failure {
    std::string reason;
    bool is_temporary = false;
    std::optional<std::chrono::milliseconds> retry_after = {};
  };

  std::vector<Vector> embed_distinct(std::span<const std::string> texts);
  std::vector<Vector> embed_batch(std::span<const std::string> texts, const std::stop_token& stop);
  std::string request_body(std::span<const std::string> texts) const;
  // The body of the answer, after as many retries as it takes.
  std::string ask(const HttpRequest& request, const std::stop_token& stop);
  Failure failure_of(const HttpResponse& response) const;
  std::chrono::milliseconds wait_after(const Failure& failure, std::size_t retry) const;
  void check_dimensions(std::span<const Vector> vectors) const;
  std::string without_secrets(std::string text) const;
  [[noreturn]] void fail(const std::string& reason) const;

  const std::string model_;
  const EmbeddingsOptions options_;
  const Wait wait_;
  const std::string url_;
  const std::string endpoint_;
  const std::vector<std::string> headers_;
  HttpClient http_;
};

}  // namespace clew::embeddings
