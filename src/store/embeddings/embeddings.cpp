#include <clew/embeddings.hpp>

#include <cstdlib>

#include <fmt/format.h>

#include "store/embeddings/openai_embedder.hpp"

namespace clew {

namespace {

constexpr std::string_view kOpenAiUrl = "https://api.openai.com/v1";

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::shared_ptr<Embedder> openai_embedder(std::string_view model, EmbeddingsOptions options) {
  if (options.base_url.empty()) options.base_url = from_environment("OPENAI_BASE_URL");
  if (options.base_url.empty()) options.base_url = kOpenAiUrl;
  if (options.api_key.empty()) options.api_key = from_environment("OPENAI_API_KEY");
  if (options.api_key.empty() && options.base_url.starts_with(kOpenAiUrl)) {
    throw ValueError(fmt::format(
        "openai:{} needs an API key: set OPENAI_API_KEY or EmbeddingsOptions::api_key, or base_url "
        "for a server of your own",
        model));
  }
  return std::make_shared<embeddings::OpenAiEmbedder>(std::string(model), std::move(options));
}

}  // namespace

std::shared_ptr<Embedder> init_embeddings(std::string_view provider_and_model,
                                          EmbeddingsOptions options) {
  const std::size_t colon = provider_and_model.find(':');
  const std::string_view provider = provider_and_model.substr(0, colon);
  const bool has_model = colon < provider_and_model.size() - 1 && !provider_and_model.empty();
  if (provider == "openai" && has_model) {
    return openai_embedder(provider_and_model.substr(colon + 1), std::move(options));
  }
  throw ValueError(fmt::format(
      "'{}' names no embeddings; known is openai:MODEL, such as openai:text-embedding-3-small, and "
      "for any server that speaks OpenAI's protocol the same with EmbeddingsOptions::base_url",
      provider_and_model));
}

}  // namespace clew
