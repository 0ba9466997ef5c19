// Embedders by name: models behind an endpoint that speaks OpenAI's protocol, so
// that a store can be searched by meaning.
//
//   auto embedder = init_embeddings("openai:text-embedding-3-small");
//   IndexOptions index{.embed = embedder, .dims = 1536, .fields = {"text"}};
//   InMemoryStore store({.index = index});
//
// Servers of your own (Ollama, vLLM, llama.cpp and others) mostly speak it too:
//
//   init_embeddings("openai:nomic-embed-text", {.base_url = "http://localhost:11434/v1"});
//
// A call blocks until all vectors are there. It throws EmbeddingError with what
// went wrong and the way out; a put() that needed the vectors then stores nothing.
//
// Needs the library clew::embeddings. All methods of an embedder may be called
// from any thread, also at the same time.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <clew/store.hpp>

namespace clew {

struct EmbeddingsOptions {
  // Where the endpoint is, without "/embeddings". Empty: OPENAI_BASE_URL of the
  // environment, else https://api.openai.com/v1.
  std::string base_url = {};

  // Sent as a bearer token. Empty: OPENAI_API_KEY of the environment. Only
  // OpenAI's own endpoint must have one. Never part of an error's text.
  std::string api_key = {};

  // Asks the model for vectors of this length. 0: as long as it makes them.
  std::size_t dimensions = 0;

  // Sent with every request: {{"OpenAI-Organization", "org-1"}}.
  std::vector<std::pair<std::string, std::string>> headers = {};

  // Texts per request. Long texts are sent in smaller batches.
  std::size_t batch_size = 256;

  // Requests of one call that are under way at a time.
  std::size_t max_concurrency = 4;

  // How long one request may take, connecting included, and how long connecting alone.
  std::chrono::milliseconds timeout{60'000};
  std::chrono::milliseconds connect_timeout{10'000};

  // How often a request is repeated that met no server, a timeout, a broken
  // connection, or the status 408, 409, 429 or 5xx. The first wait is about half
  // a second, each further one twice as long.
  std::size_t max_retries = 3;

  // The longest of these waits. A server may ask for another one by Retry-After;
  // if it asks for a longer one than this, the call fails at once.
  std::chrono::milliseconds max_retry_wait{30'000};

  // Such as "http://proxy:3128". Empty: http_proxy, https_proxy, all_proxy and
  // no_proxy of the environment.
  std::string proxy = {};
};

// The embedder that `provider_and_model` names: "openai:MODEL". Nothing is sent
// before it is asked for vectors. Throws ValueError for an unknown provider, an
// option that makes no sense, or a missing key.
//
// Certificates are checked against those of the system, or of the file that
// CURL_CA_BUNDLE or SSL_CERT_FILE names. Redirects are not followed.
std::shared_ptr<Embedder> init_embeddings(std::string_view provider_and_model,
                                          EmbeddingsOptions options = {});

}  // namespace clew
