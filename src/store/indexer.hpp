// Makes the vectors by which items are found.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <clew/store.hpp>

#include "store/text_path.hpp"

namespace clew::store {

// The vector of one text of an item.
struct IndexedText {
  std::string field;  // its path; with a number behind it if the path leads to several
  Embedder::Vector vector;
};

std::vector<TextPath> parse_paths(std::span<const std::string> paths);

// All texts that the paths lead to.
std::vector<std::string> texts_at(const Value& value, std::span<const TextPath> paths);

class Indexer {
 public:
  // Throws ValueError if there is no embedder.
  explicit Indexer(const IndexOptions& options);

  // What to index of each of `puts`; nothing for those that remove. Identical
  // texts are embedded once. Throws ValueError if the embedder does not make
  // one vector of the right length per text, all of numbers.
  std::vector<std::vector<IndexedText>> index(std::span<const PutOp* const> puts) const;

  Embedder::Vector embed_query(const std::string& query) const;

 private:
  std::vector<Embedder::Vector> embed(std::span<const std::string> texts) const;
  void check(const Embedder::Vector& vector) const;

  std::shared_ptr<Embedder> embedder_;
  std::size_t dims_;
  std::vector<TextPath> fields_;
};

}  // namespace clew::store
