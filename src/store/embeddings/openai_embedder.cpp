#include "store/embeddings/openai_embedder.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "store/embeddings/parallel.hpp"
#include "store/embeddings/response.hpp"
#include "value/random.hpp"

namespace clew::embeddings {

namespace {

// OpenAI takes at most 300,000 tokens per request, and a token is at least one byte.
constexpr std::size_t kMostBytesPerRequest = std::size_t{256} << 10;

const EmbeddingsOptions& checked(const EmbeddingsOptions& options) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw ValueError(std::string("EmbeddingsOptions::") + what);
  };
  require(options.batch_size > 0, "batch_size must be at least 1");
  require(options.max_concurrency > 0, "max_concurrency must be at least 1");
  require(options.timeout.count() > 0, "timeout must be positive");
  require(options.connect_timeout.count() > 0, "connect_timeout must be positive");
  require(options.max_retry_wait.count() >= 0, "max_retry_wait must not be negative");
  return options;
}

std::string embeddings_url(std::string base_url) {
  if (base_url.find_first_of("?#") != std::string::npos) {
    throw ValueError("EmbeddingsOptions::base_url must end with a path, such as /v1");
  }
  while (base_url.ends_with('/')) base_url.pop_back();
  return base_url + "/embeddings";
}

std::string checked_endpoint(const std::string& url) {
  try {
    return endpoint_of(url);
  } catch (const ValueError& error) {
    throw ValueError("EmbeddingsOptions::base_url: " + error.reason());
  }
}

// A line break in a header would begin another one.
std::string header(const std::string& name, const std::string& value, const char* option) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(name, is_control) || std::ranges::any_of(value, is_control)) {
    throw ValueError(fmt::format(
        "EmbeddingsOptions::{} holds a line break or another character no header may have",
        option));
  }
  return name + ": " + value;
}

std::vector<std::string> request_headers(const EmbeddingsOptions& options) {
  std::vector<std::string> headers{"Content-Type: application/json", "Accept: application/json"};
  if (!options.api_key.empty()) {
    headers.push_back(header("Authorization", "Bearer " + options.api_key, "api_key"));
  }
  for (const auto& [name, value] : options.headers) {
    headers.push_back(header(name, value, "headers"));
  }
  return headers;
}

// Consecutive texts that go into one request.
std::vector<std::span<const std::string>> split(std::span<const std::string> texts,
                                                std::size_t most) {
  std::vector<std::span<const std::string>> batches;
  while (!texts.empty()) {
    std::size_t size = 1;
    std::size_t bytes = texts[0].size();
    while (size < std::min(texts.size(), most) &&
           bytes + texts[size].size() <= kMostBytesPerRequest) {
      bytes += texts[size++].size();
    }
    batches.push_back(texts.first(size));
    texts = texts.subspan(size);
  }
  return batches;
}

bool is_temporary(int status) {
  return status == 408 || status == 409 || status == 429 || status >= 500;
}

std::string text_of(std::chrono::milliseconds duration) {
  return fmt::format("{} s", static_cast<double>(duration.count()) / 1000);
}

}  // namespace

OpenAiEmbedder::OpenAiEmbedder(std::string model, EmbeddingsOptions options, Wait wait)
    : model_(std::move(model)),
      options_(checked(options)),
      wait_(std::move(wait)),
      url_(embeddings_url(options_.base_url)),
      endpoint_(checked_endpoint(url_)),
      headers_(request_headers(options_)),
      http_({.timeout = options_.timeout,
             .connect_timeout = options_.connect_timeout,
             .proxy = options_.proxy}) {}

std::vector<Embedder::Vector> OpenAiEmbedder::embed_documents(std::span<const std::string> texts) {
  std::vector<std::string> distinct;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const std::string& text : texts) {
    if (places.try_emplace(text, distinct.size()).second) distinct.push_back(text);
  }
  std::vector<Vector> vectors = embed_distinct(distinct);
  if (distinct.size() == texts.size()) return vectors;

  std::vector<Vector> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(vectors[places.at(text)]);
  return all;
}

std::vector<Embedder::Vector> OpenAiEmbedder::embed_distinct(std::span<const std::string> texts) {
  const std::vector<std::span<const std::string>> batches = split(texts, options_.batch_size);
  std::vector<std::vector<Vector>> answers(batches.size());
  run_in_parallel(batches.size(), options_.max_concurrency,
                  [&](std::size_t batch, const std::stop_token& stop) {
                    answers[batch] = embed_batch(batches[batch], stop);
                  });
  std::vector<Vector> vectors;
  vectors.reserve(texts.size());
  for (std::vector<Vector>& answer : answers)
    std::ranges::move(answer, std::back_inserter(vectors));
  check_dimensions(vectors);
  return vectors;
}

std::vector<Embedder::Vector> OpenAiEmbedder::embed_batch(std::span<const std::string> texts,
                                                          const std::stop_token& stop) {
  const std::string answer =
      ask({.url = url_, .headers = headers_, .body = request_body(texts)}, stop);
  try {
    return read_vectors(answer, texts.size());
  } catch (const EmbeddingError& error) {
    fail(error.what());
  }
}

std::string OpenAiEmbedder::request_body(std::span<const std::string> texts) const {
  ListBuilder input;
  for (const std::string& text : texts) input.push_back(text);
  ObjectBuilder body;
  body.set("model", model_);
  body.set("input", std::move(input).build());
  body.set("encoding_format", "float");
  if (options_.dimensions > 0) body.set("dimensions", options_.dimensions);
  return to_json(std::move(body).build());
}

std::string OpenAiEmbedder::ask(const HttpRequest& request, const std::stop_token& stop) {
  for (std::size_t retry = 0;; ++retry) {
    Failure failure;
    try {
      HttpResponse response = http_.post(request, stop);
      if (response.status / 100 == 2) return std::move(response.body);
      failure = failure_of(response);
    } catch (const HttpError& error) {
      failure = {.reason = error.what(), .is_temporary = error.is_temporary()};
    }
    if (!failure.is_temporary) fail(failure.reason);
    if (retry == options_.max_retries) {
      fail(retry == 0 ? failure.reason
                      : fmt::format("{} (tried {} times)", failure.reason, retry + 1));
    }
    wait_(wait_after(failure, retry), stop);
  }
}

OpenAiEmbedder::Failure OpenAiEmbedder::failure_of(const HttpResponse& response) const {
  const int status = response.status;
  std::string reason = read_reason(response.body);
  if (!reason.empty()) reason = ": " + reason;
  if (status == 401) {
    // What the server says is left out: it may quote the key.
    return {
        fmt::format("the API key was {} (401); check OPENAI_API_KEY or EmbeddingsOptions::api_key",
                    options_.api_key.empty() ? "missing" : "refused")};
  }
  if (status == 404) {
    return {fmt::format(
        "not found (404){}; check the name of the model, and that base_url is right", reason)};
  }
  if (status >= 300 && status < 400) {
    return {fmt::format("redirected ({}) to {}; set base_url to where the endpoint is", status,
                        quote(response.location))};
  }
  return {fmt::format("answered {}{}", status, reason), is_temporary(status), response.retry_after};
}

std::chrono::milliseconds OpenAiEmbedder::wait_after(const Failure& failure,
                                                     std::size_t retry) const {
  if (!failure.retry_after) {
    return backoff(retry, options_.max_retry_wait, internal::random_unit());
  }
  if (*failure.retry_after <= options_.max_retry_wait) return *failure.retry_after;
  fail(fmt::format("{}; asks to wait {}, and max_retry_wait allows {}", failure.reason,
                   text_of(*failure.retry_after), text_of(options_.max_retry_wait)));
}

void OpenAiEmbedder::check_dimensions(std::span<const Vector> vectors) const {
  for (const Vector& vector : vectors) {
    if (options_.dimensions > 0 && vector.size() != options_.dimensions) {
      fail(fmt::format("asked for {} dimensions, and got {}; can the model shorten its vectors?",
                       options_.dimensions, vector.size()));
    }
    if (vector.size() != vectors[0].size()) {
      fail(fmt::format("vectors of one call have {} and {} dimensions", vectors[0].size(),
                       vector.size()));
    }
  }
}

std::string OpenAiEmbedder::without_secrets(std::string text) const {
  // Shorter ones ("none", "1") are no secrets, and would be found everywhere.
  constexpr std::size_t kShortestSecret = 8;
  const auto hide = [&text](const std::string& secret) {
    if (secret.size() < kShortestSecret) return;
    for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos;) {
      text.replace(at, secret.size(), "***");
    }
  };
  hide(options_.api_key);
  for (const auto& [name, value] : options_.headers) hide(value);
  return text;
}

void OpenAiEmbedder::fail(const std::string& reason) const {
  throw EmbeddingError(
      without_secrets(fmt::format("openai:{} at {}: {}", model_, endpoint_, reason)));
}

}  // namespace clew::embeddings
