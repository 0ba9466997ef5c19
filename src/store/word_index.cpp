#include "store/word_index.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "store/top_hits.hpp"

namespace clew::store {

namespace {

// How soon more of the same word adds little, and how much long texts are held
// back: the usual choice.
constexpr double kSaturation = 1.2;
constexpr double kLengthWeight = 0.75;

constexpr double kRankOffset = 60;

}  // namespace

struct WordIndex::Data {
  using Postings = std::unordered_map<ItemId, std::size_t>;  // how often the item has the word
  using Words = std::unordered_map<std::string, Postings>;

  struct Document {
    std::size_t length = 0;  // in words, repeated ones counted
    std::vector<Words::value_type*> words = {};
  };

  void put(ItemId id, std::span<const std::string> texts) {
    erase(id);
    Document document;
    for (const std::string& text : texts) {
      for (std::string& word : words_of(text)) add(id, std::move(word), document);
    }
    if (document.length == 0) return;
    total_length += document.length;
    documents.emplace(id, std::move(document));
  }

  void add(ItemId id, std::string word, Document& document) {
    Words::value_type& found = *words.try_emplace(std::move(word)).first;
    if (found.second[id]++ == 0) document.words.push_back(&found);
    ++document.length;
  }

  void erase(ItemId id) {
    const auto document = documents.find(id);
    if (document == documents.end()) return;
    for (Words::value_type* word : document->second.words) {
      word->second.erase(id);
      if (word->second.empty()) words.erase(words.find(word->first));
    }
    total_length -= document->second.length;
    documents.erase(document);
  }

  // Adds what `word` is worth to the items that have it.
  void rate(const Postings& postings, const Candidates* candidates,
            std::unordered_map<ItemId, double>& scores) const {
    const auto number = static_cast<double>(documents.size());
    const auto having = static_cast<double>(postings.size());
    const double rarity = std::log(1 + (number - having + 0.5) / (having + 0.5));
    const double mean_length = static_cast<double>(total_length) / number;
    const auto rate_one = [&](ItemId id, std::size_t times) {
      const auto count = static_cast<double>(times);
      const auto length = static_cast<double>(documents.at(id).length);
      const double held_back = 1 - kLengthWeight + kLengthWeight * length / mean_length;
      scores[id] += rarity * count * (kSaturation + 1) / (count + kSaturation * held_back);
    };
    if (!candidates || candidates->size() > postings.size()) {
      for (const auto& [id, times] : postings) {
        if (!candidates || std::ranges::binary_search(*candidates, id)) rate_one(id, times);
      }
    } else {
      for (const ItemId id : *candidates) {
        if (const auto found = postings.find(id); found != postings.end()) {
          rate_one(id, found->second);
        }
      }
    }
  }

  Words words;
  std::unordered_map<ItemId, Document> documents;
  std::size_t total_length = 0;
};

WordIndex::WordIndex() : data_(std::make_unique<Data>()) {}

WordIndex::~WordIndex() = default;

void WordIndex::put(ItemId id, std::span<const std::string> texts) { data_->put(id, texts); }

void WordIndex::erase(ItemId id) { data_->erase(id); }

std::vector<Hit> WordIndex::search(std::string_view query, std::size_t limit,
                                   const Candidates* candidates, const Hit* after) const {
  std::vector<std::string> wanted = words_of(query);
  std::ranges::sort(wanted);
  wanted.erase(std::ranges::unique(wanted).begin(), wanted.end());
  std::unordered_map<ItemId, double> scores;
  for (const std::string& word : wanted) {
    const auto found = data_->words.find(word);
    if (found != data_->words.end()) data_->rate(found->second, candidates, scores);
  }
  // Scores depend on all texts: if some came or went, the last item of the page
  // before has another one now.
  std::optional<Hit> present;
  if (after) present = *after;
  if (const auto found = after ? scores.find(after->id) : scores.end(); found != scores.end()) {
    present->score = found->second;
  }
  TopHits top(limit, present ? &*present : nullptr);
  for (const auto& [id, score] : scores) top.offer({id, score});
  return std::move(top).take();
}

double reciprocal_rank(std::size_t rank) { return 1 / (kRankOffset + static_cast<double>(rank)); }

std::vector<Hit> fuse(std::span<const Hit> first, std::span<const Hit> second) {
  std::unordered_map<ItemId, double> scores;
  for (std::size_t i = 0; i < first.size(); ++i) scores[first[i].id] += reciprocal_rank(i + 1);
  for (std::size_t i = 0; i < second.size(); ++i) scores[second[i].id] += reciprocal_rank(i + 1);
  std::vector<Hit> fused;
  for (const auto& [id, score] : scores) fused.push_back({id, score});
  std::ranges::sort(fused, comes_before);
  return fused;
}

}  // namespace clew::store
