// How a Store finds items by meaning and by words.
//
//   IndexOptions index{.embed = embedder, .dims = 1536, .fields = {"text", "tags[*]"}};
//   auto store = std::make_shared<InMemoryStore>(StoreOptions{.index = index});
//
// An Embedder is any function from texts to vectors (make_embedder) or a model
// behind HTTP (<clew/embeddings.hpp>).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clew {

// Turns texts into vectors that are near each other if their texts mean the like.
class Embedder {
 public:
  using Vector = std::vector<float>;

  Embedder() = default;
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;
  virtual ~Embedder() = default;

  // One vector per text, in the same order. May be called from several threads
  // at a time.
  virtual std::vector<Vector> embed_documents(std::span<const std::string> texts) = 0;
  // By default like a document.
  virtual Vector embed_query(const std::string& text);
};

// Any function as an Embedder.
std::shared_ptr<Embedder> make_embedder(
    std::function<std::vector<Embedder::Vector>(std::span<const std::string> texts)> function);

// What the score of an item is: of its texts, that of the nearest one counts.
enum class Distance {
  cosine,         // the cosine of the angle between the vectors
  inner_product,  // their inner product
  l2,             // minus the distance of their ends
};

// A graph of near neighbours, for stores so large that comparing a query with
// every vector takes too long. It finds most of the best items, not surely all.
struct HnswOptions {
  // Fewer vectors than this are all compared, which is exact. The graph is made
  // in the background when there are more; until it is there, all are compared.
  std::size_t from = 20'000;

  // More of them: better results, more memory and a slower start.
  std::size_t neighbours = 16;
  // How far a new vector, and a query, look around for their neighbours. More:
  // better results, slower.
  std::size_t look_around_to_build = 200;
  std::size_t look_around_to_search = 100;
};

struct IndexOptions {
  std::shared_ptr<Embedder> embed;

  // The length of the vectors; others are refused. 0: any.
  std::size_t dims = 0;

  // The texts of a value that are indexed, each by a path such as "text",
  // "meta.title", "tags[*]", "rows[-1].name", "parts.*" or "{title,meta.note}".
  // "$" is the whole value, as JSON.
  std::vector<std::string> fields = {"$"};

  Distance distance = Distance::cosine;

  // Nothing: a query is compared with every vector.
  std::optional<HnswOptions> hnsw = {};
};

}  // namespace clew
