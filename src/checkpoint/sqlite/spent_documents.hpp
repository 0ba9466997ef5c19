// Documents that are not needed any more, for their memory: that of a long conversation is
// more than malloc keeps, and the system would have to find it anew for every step.
//
// All methods may be called from any thread.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "value/msgpack_document.hpp"

namespace clew::sqlite {

class SpentDocuments : public std::enable_shared_from_this<SpentDocuments> {
 public:
  using Document = internal::MsgpackDocument;

  // Nothing is allocated later, where memory is given back.
  SpentDocuments() { documents_.reserve(kMost); }

  // Shares a document that comes here when the last one lets go of it.
  std::shared_ptr<const Document> share(Document document) {
    if (document.capacity < kSmallest) return std::make_shared<Document>(std::move(document));
    return {new Document(std::move(document)), [spent = shared_from_this()](Document* shared) {
              const std::unique_ptr<Document> owned(shared);
              spent->add(std::move(*owned));
            }};
  }

  // One that is about as large as `earlier`, or else one without memory.
  Document take(const Document& earlier) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(documents_, [&](const Document& document) {
      return earlier.capacity <= document.capacity && document.capacity <= 2 * earlier.capacity;
    });
    if (found == documents_.end()) return {};
    Document document = std::move(*found);
    documents_.erase(found);
    return document;
  }

 private:
  // About as many as are there at a time: the puts of a turn, and what they are copied from.
  static constexpr std::size_t kMost = 4;
  static constexpr std::size_t kSmallest = 32 << 10;  // below, malloc keeps the memory
  static constexpr std::size_t kLargest = 2 << 20;

  void add(Document document) {
    document.long_lists.clear();
    if (document.capacity > kLargest) return;
    const std::lock_guard lock(mutex_);
    if (documents_.size() == kMost) documents_.erase(documents_.begin());
    documents_.push_back(std::move(document));
  }

  std::mutex mutex_;
  std::vector<Document> documents_;
};

}  // namespace clew::sqlite
