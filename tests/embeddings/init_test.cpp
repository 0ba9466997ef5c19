#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>

#include <clew/embeddings.hpp>

#include "embeddings/endpoint.hpp"
#include "unit/error_text.hpp"

namespace clew::embeddings {
namespace {

using namespace std::chrono_literals;

std::string refusal(std::string_view name, EmbeddingsOptions options = {}) {
  return error_text<ValueError>([&] { init_embeddings(name, std::move(options)); });
}

std::string refusal(EmbeddingsOptions options) {
  return refusal("openai:test", std::move(options));
}

// A variable of the environment that has another value for a while; null removes it.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) const { value ? ::setenv(name_, value, 1) : ::unsetenv(name_); }

  const char* name_;
  std::optional<std::string> before_;
};

TEST(InitEmbeddings, SaysWhichProvidersThereAre) {
  for (const char* name : {"", ":", "openai", "openai:", "text-embedding-3-small", "cohere:embed",
                           "OpenAI:text-embedding-3-small"}) {
    EXPECT_EQ(refusal(name),
              "'" + std::string(name) +
                  "' names no embeddings; known is openai:MODEL, such as "
                  "openai:text-embedding-3-small, and for any server that speaks OpenAI's protocol "
                  "the same with EmbeddingsOptions::base_url");
  }
}

TEST(InitEmbeddings, OnlyOpenAiNeedsAKey) {
  const Variable url("OPENAI_BASE_URL", nullptr);
  const Variable key("OPENAI_API_KEY", nullptr);
  EXPECT_EQ(refusal("openai:text-embedding-3-small"),
            "openai:text-embedding-3-small needs an API key: set OPENAI_API_KEY or "
            "EmbeddingsOptions::api_key, or base_url for a server of your own");
  EXPECT_EQ(refusal({.base_url = "http://localhost:11434/v1"}), "no error");
  EXPECT_EQ(refusal({.api_key = "sk-1"}), "no error");
}

TEST(InitEmbeddings, TakesUrlAndKeyFromTheEnvironment) {
  Endpoint endpoint("good");
  const Variable url("OPENAI_BASE_URL", endpoint.base_url().c_str());
  const Variable key("OPENAI_API_KEY", "sk-environment");
  EXPECT_EQ(init_embeddings("openai:nomic:latest")->embed_query("pizza"), vector_of("pizza"));
  EXPECT_EQ(endpoint.requests()[0]["headers"]["Authorization"], Value("Bearer sk-environment"));
  EXPECT_EQ(endpoint.requests()[0]["body"]["model"], Value("nomic:latest"));
}

TEST(InitEmbeddings, OptionsComeBeforeTheEnvironment) {
  Endpoint endpoint("good");
  const Variable url("OPENAI_BASE_URL", "http://elsewhere.invalid");
  const Variable key("OPENAI_API_KEY", "sk-environment");
  const auto embedder = init_embeddings(
      "openai:test", {.base_url = endpoint.base_url() + "/", .api_key = "sk-option"});
  EXPECT_EQ(embedder->embed_query("pizza"), vector_of("pizza"));
  EXPECT_EQ(endpoint.requests()[0]["headers"]["Authorization"], Value("Bearer sk-option"));
}

TEST(InitEmbeddings, RefusesOptionsThatMakeNoSense) {
  EXPECT_EQ(refusal({.base_url = "localhost:11434"}),
            "EmbeddingsOptions::base_url: expected a URL that begins with http:// or https://");
  EXPECT_EQ(refusal({.base_url = "http://localhost/v1?version=1"}),
            "EmbeddingsOptions::base_url must end with a path, such as /v1");
  EXPECT_EQ(
      refusal({.api_key = "sk-1\n"}),
      "EmbeddingsOptions::api_key holds a line break or another character no header may have");
  EXPECT_EQ(
      refusal({.headers = {{"X-A", "1\r\nX-B: 2"}}}),
      "EmbeddingsOptions::headers holds a line break or another character no header may have");
  EXPECT_EQ(refusal({.batch_size = 0}), "EmbeddingsOptions::batch_size must be at least 1");
  EXPECT_EQ(refusal({.max_concurrency = 0}),
            "EmbeddingsOptions::max_concurrency must be at least 1");
  EXPECT_EQ(refusal({.timeout = 0ms}), "EmbeddingsOptions::timeout must be positive");
  EXPECT_EQ(refusal({.connect_timeout = -1ms}),
            "EmbeddingsOptions::connect_timeout must be positive");
  EXPECT_EQ(refusal({.max_retry_wait = -1ms}),
            "EmbeddingsOptions::max_retry_wait must not be negative");
}

}  // namespace
}  // namespace clew::embeddings
