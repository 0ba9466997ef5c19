#include "store/indexer.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace clew::store {

namespace {

// Texts to embed, each once.
class TextSet {
 public:
  std::size_t add(const std::string& text) {
    const auto [place, is_new] = places_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return place->second;
  }

  std::span<const std::string> texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::size_t> places_;
};

struct Field {
  std::string name;
  std::size_t text;  // its place in the TextSet
};

std::vector<Field> collect(const Value& value, std::span<const TextPath> paths, TextSet& texts) {
  std::vector<Field> fields;
  for (const TextPath& path : paths) {
    const std::vector<std::string> found = path.texts(value);
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::string name = path.path();
      if (found.size() > 1) name += "." + std::to_string(i);
      fields.push_back({std::move(name), texts.add(found[i])});
    }
  }
  return fields;
}

}  // namespace

std::vector<TextPath> parse_paths(std::span<const std::string> paths) {
  return std::vector<TextPath>(paths.begin(), paths.end());
}

std::vector<std::string> texts_at(const Value& value, std::span<const TextPath> paths) {
  std::vector<std::string> texts;
  for (const TextPath& path : paths) {
    for (std::string& text : path.texts(value)) texts.push_back(std::move(text));
  }
  return texts;
}

Indexer::Indexer(const IndexOptions& options)
    : embedder_(options.embed), dims_(options.dims), fields_(parse_paths(options.fields)) {
  if (!embedder_)
    throw ValueError("the index of a store needs an embedder: set IndexOptions::embed");
}

std::vector<std::vector<IndexedText>> Indexer::index(std::span<const PutOp* const> puts) const {
  TextSet texts;
  std::vector<std::vector<Field>> fields(puts.size());
  for (std::size_t i = 0; i < puts.size(); ++i) {
    const PutOp& put = *puts[i];
    if (put.value.is_null()) continue;
    fields[i] = put.options.index ? collect(put.value, parse_paths(*put.options.index), texts)
                                  : collect(put.value, fields_, texts);
  }
  const std::vector<Embedder::Vector> vectors = embed(texts.texts());
  std::vector<std::vector<IndexedText>> indexed(puts.size());
  for (std::size_t i = 0; i < puts.size(); ++i) {
    for (Field& field : fields[i]) {
      indexed[i].push_back({std::move(field.name), vectors[field.text]});
    }
  }
  return indexed;
}

Embedder::Vector Indexer::embed_query(const std::string& query) const {
  Embedder::Vector vector = embedder_->embed_query(query);
  check(vector);
  return vector;
}

std::vector<Embedder::Vector> Indexer::embed(std::span<const std::string> texts) const {
  if (texts.empty()) return {};
  std::vector<Embedder::Vector> vectors = embedder_->embed_documents(texts);
  if (vectors.size() != texts.size()) {
    throw ValueError("the embedder made " + std::to_string(vectors.size()) + " vectors of " +
                     std::to_string(texts.size()) + " texts; it must make one per text");
  }
  for (const Embedder::Vector& vector : vectors) {
    check(vector);
    if (vector.size() != vectors.front().size()) {
      throw ValueError("the embedder made vectors of length " +
                       std::to_string(vectors.front().size()) + " and " +
                       std::to_string(vector.size()) + "; all must be equally long");
    }
  }
  return vectors;
}

void Indexer::check(const Embedder::Vector& vector) const {
  if (!std::ranges::all_of(vector, [](float number) { return std::isfinite(number); })) {
    throw ValueError("the embedder made a vector with numbers that are infinite or none");
  }
  if (dims_ == 0 || vector.size() == dims_) return;
  throw ValueError("the embedder made a vector of length " + std::to_string(vector.size()) +
                   ", but the index has " + std::to_string(dims_) +
                   " dimensions; set IndexOptions::dims to what the model makes");
}

}  // namespace clew::store
