#include <clew/store.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "store/fair_shared_mutex.hpp"
#include "store/filter.hpp"
#include "store/indexer.hpp"
#include "store/memory/items.hpp"
#include "store/operations.hpp"
#include "store/ranking.hpp"

namespace clew {

using store::Bucket;
using store::Entry;
using store::ItemId;

namespace {

// The place of an item that has no score.
SearchCursor place_of(const Bucket& bucket, const Entry& entry) {
  return {store::unscored_rank(bucket.ordinal), entry.id};
}

// Items one by one, of which a search gives those of a page.
class Page {
 public:
  Page(std::size_t offset, std::size_t limit, const std::optional<SearchCursor>& after)
      : offset_(offset), limit_(limit), after_(after) {}

  bool is_full() const { return taken_ >= limit_; }
  bool is_passed(const Bucket& bucket) const {
    return after_ && store::unscored_rank(bucket.ordinal) > after_->rank;
  }
  bool is_passed(const SearchCursor& place) const {
    return after_ && !store::is_behind(place, *after_);
  }
  // Whether the item is on the page; it is not passed.
  bool take() {
    if (seen_++ < offset_) return false;
    ++taken_;
    return true;
  }

 private:
  std::size_t offset_;
  std::size_t limit_;
  const std::optional<SearchCursor>& after_;
  std::size_t seen_ = 0;
  std::size_t taken_ = 0;
};

SearchItem found_item(const Entry& entry, std::optional<double> score, const SearchCursor& cursor) {
  SearchItem found;
  static_cast<Item&>(found) = entry.item();
  found.score = score;
  found.cursor = cursor;
  return found;
}

}  // namespace

struct InMemoryStore::Data {
  // Vectors of what is put, or of queries; made before anything is locked.
  using Vectors = std::vector<Embedder::Vector>;

  explicit Data(const StoreOptions& options) : ttl(options.ttl) {
    if (!options.index) return;
    indexer.emplace(*options.index);
    fields = store::parse_paths(options.index->fields);
    vectors.emplace(options.index->distance, options.index->hnsw);
  }

  // Runs `function` with the items whose time is not over: alone if it changes
  // anything, else together with others.
  template <class Function>
  auto run(bool changes, const Function& function) {
    if (!changes) {
      const std::shared_lock lock(mutex);
      if (!items.has_expired()) return function();
    }
    const std::scoped_lock lock(mutex);
    if (items.has_expired()) remove_expired();
    return function();
  }

  void remove_expired() {
    const Item::Time time = store::now();
    while (Entry* entry = items.find_expired(time)) {
      erase(*entry);
      ++expired;
    }
  }

  // ---- Reads

  bool changes_something(const StoreOp& op) const {
    if (const auto* get = std::get_if<GetOp>(&op)) return is_refreshed(get->refresh_ttl);
    if (const auto* search = std::get_if<SearchOp>(&op)) {
      return is_refreshed(search->options.refresh_ttl) || needs_word_index(search->options);
    }
    return std::holds_alternative<PutOp>(op);
  }

  bool is_refreshed(std::optional<bool> refresh_ttl) const {
    return store::is_refreshed(refresh_ttl, ttl);
  }

  // Once made, the index of words stays.
  bool needs_word_index(const SearchOptions& options) const {
    return store::needs_words(options) && !has_words;
  }

  void refresh(Entry& entry, std::optional<bool> refresh_ttl) {
    if (entry.ttl == kNoTtl || !is_refreshed(refresh_ttl)) return;
    items.set_ttl(entry, entry.ttl, store::now());
  }

  StoreResult read(const GetOp& op, const Embedder::Vector&) {
    return get(op.namespace_, op.key, op.refresh_ttl);
  }
  StoreResult read(const SearchOp& op, const Embedder::Vector& query) { return search(op, query); }
  StoreResult read(const ListNamespacesOp& op, const Embedder::Vector&) { return list(op.options); }
  StoreResult read(const PutOp&, const Embedder::Vector&) { return std::monostate(); }

  std::optional<Item> get(const StoreNamespace& ns, std::string_view key,
                          std::optional<bool> refresh_ttl) {
    Entry* entry = items.find(ns, key);
    if (!entry) return std::nullopt;
    refresh(*entry, refresh_ttl);
    return entry->item();
  }

  std::vector<StoreNamespace> list(const ListNamespacesOptions& options) const {
    store::NamespaceList listed(options);
    for (const auto& [ns, bucket] : items.buckets()) {
      if (listed.is_full()) break;
      listed.add(ns);
    }
    return std::move(listed).take();
  }

  // ---- Search

  std::vector<SearchItem> search(const SearchOp& op, const Embedder::Vector& query) {
    const SearchOptions& options = op.options;
    store::Indexes indexes;
    if (store::needs_vectors(options, vectors.has_value())) indexes.vectors = &*vectors;
    if (store::needs_words(options)) indexes.words = &word_index();

    std::vector<SearchItem> found;
    if (!indexes.vectors && !indexes.words) {
      add_in_order(op, Page(options.offset, options.limit, options.after), found,
                   [](const Entry&) { return true; });
      return found;
    }
    const std::optional<store::Candidates> candidates = candidates_of(op);
    const store::RankedPage page =
        store::rank(options, query, indexes, candidates ? &*candidates : nullptr);
    for (const store::Hit& hit : page.hits) {
      Entry& entry = *by_id.at(hit.id);
      refresh(entry, options.refresh_ttl);
      found.push_back(found_item(entry, hit.score, {hit.score, hit.id}));
    }
    add_in_order(op, Page(page.unscored_offset, page.unscored_limit, options.after), found,
                 [&](const Entry& entry) { return page.is_unscored(entry.id); });
    return found;
  }

  // Adds those of the items that it accepts.
  template <class Accept>
  void add_in_order(const SearchOp& op, Page page, std::vector<SearchItem>& found,
                    const Accept& accept) {
    if (page.is_full()) return;
    for (Bucket* bucket : items.buckets_below(op.prefix)) {
      if (page.is_passed(*bucket)) continue;
      for (Entry* next = bucket->first; next; next = next->next) {
        Entry& entry = *next;
        const SearchCursor place = place_of(*bucket, entry);
        if (page.is_passed(place) || !accept(entry)) continue;
        if (!store::matches(entry.value, op.options.filter) || !page.take()) continue;
        refresh(entry, op.options.refresh_ttl);
        found.push_back(found_item(entry, std::nullopt, place));
        if (page.is_full()) return;
      }
    }
  }

  // Nothing if it is all of them.
  std::optional<store::Candidates> candidates_of(const SearchOp& op) {
    const Value& filter = op.options.filter;
    const bool is_filtered = filter.is_object() && !filter.empty();
    const std::vector<Bucket*> buckets = items.buckets_below(op.prefix);
    if (!is_filtered && buckets.size() == items.buckets().size()) return std::nullopt;
    store::Candidates candidates;
    for (const Bucket* bucket : buckets) {
      for (const Entry* entry = bucket->first; entry; entry = entry->next) {
        if (!is_filtered || store::matches(entry->value, filter)) {
          candidates.push_back(entry->id);
        }
      }
    }
    std::ranges::sort(candidates);
    return candidates;
  }

  // ---- Changes

  void put(const StoreNamespace& ns, std::string_view key, Value value, const PutOptions& options,
           const Vectors& texts) {
    Entry& entry = items.find_or_make(ns, key);
    entry.value = std::move(value);
    entry.time = store::now();
    entry.version = ++puts;
    entry.index.reset();
    if (options.index) {
      entry.index = std::make_unique<const std::vector<std::string>>(*options.index);
    }
    items.set_ttl(entry, store::ttl_of(options, ttl).value_or(kNoTtl), entry.time);
    if (vectors) vectors->put(entry.id, texts);
    if (vectors || has_words) by_id[entry.id] = &entry;
    if (has_words) put_words(entry);
  }

  void erase(Entry& entry) {
    if (vectors) vectors->erase(entry.id);
    if (has_words) words.erase(entry.id);
    if (vectors || has_words) by_id.erase(entry.id);
    items.erase(entry);
  }

  void apply(const PutOp& op, const Vectors& texts) {
    if (!op.value.is_null()) {
      put(op.namespace_, op.key, op.value, op.options, texts);
    } else if (Entry* entry = items.find(op.namespace_, op.key)) {
      erase(*entry);
    }
  }

  // ---- Words

  const store::WordIndex& word_index() {
    if (has_words) return words;
    for (Bucket* bucket : items.buckets_below({})) {
      for (Entry* entry = bucket->first; entry; entry = entry->next) {
        by_id[entry->id] = entry;
        put_words(*entry);
      }
    }
    has_words = true;
    return words;
  }

  void put_words(const Entry& entry) {
    const Value& value = entry.value;
    words.put(entry.id, entry.index ? store::texts_at(value, store::parse_paths(*entry.index))
                                    : store::texts_at(value, fields));
  }

  // ---- Reindexing

  std::vector<ItemId> all_ids() {
    std::vector<ItemId> ids;
    for (const auto& [id, entry] : by_id) ids.push_back(id);
    std::ranges::sort(ids);
    return ids;
  }

  // Embeds those of them that are still there. Returns how many.
  std::size_t reindex(std::span<const ItemId> ids) {
    std::vector<PutOp> puts_again;
    std::vector<std::pair<ItemId, std::uint64_t>> versions;
    run(false, [&] {
      for (const ItemId id : ids) {
        const auto found = by_id.find(id);
        if (found == by_id.end()) continue;
        const Entry& entry = *found->second;
        versions.emplace_back(id, entry.version);
        PutOp& put = puts_again.emplace_back(PutOp{{}, "", entry.value});
        if (entry.index) put.options.index = *entry.index;
      }
    });
    std::vector<const PutOp*> pointers;
    for (const PutOp& put : puts_again) pointers.push_back(&put);
    const std::vector<Vectors> texts = vectors_of(pointers);

    return run(true, [&] {
      std::size_t embedded = 0;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto [id, version] = versions[i];
        const auto found = by_id.find(id);
        if (found == by_id.end() || found->second->version != version) continue;
        vectors->put(id, texts[i]);
        if (!texts[i].empty()) ++embedded;
      }
      return embedded;
    });
  }

  // ---- Embedding, which may take long: nothing is locked meanwhile.

  Vectors embed_queries(std::span<const StoreOp> ops) const {
    Vectors queries(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const auto* search = std::get_if<SearchOp>(&ops[i]);
      if (search && store::needs_vectors(search->options, indexer.has_value())) {
        queries[i] = indexer->embed_query(search->options.query);
      }
    }
    return queries;
  }

  std::vector<Vectors> vectors_of(std::span<const PutOp* const> put_ops) const {
    std::vector<Vectors> all(put_ops.size());
    if (!indexer) return all;
    std::vector<std::vector<store::IndexedText>> indexed = indexer->index(put_ops);
    for (std::size_t i = 0; i < indexed.size(); ++i) {
      for (store::IndexedText& text : indexed[i]) all[i].push_back(std::move(text.vector));
    }
    return all;
  }

  const std::optional<StoreTtl> ttl;
  std::optional<store::Indexer> indexer;  // never changes
  std::vector<store::TextPath> fields = {store::TextPath("$")};

  store::FairSharedMutex mutex;
  store::Items items;
  std::unordered_map<ItemId, Entry*> by_id;  // only for the indexes
  std::optional<store::VectorIndex> vectors;
  store::WordIndex words;
  std::atomic<bool> has_words = false;  // after the first search by words
  std::uint64_t puts = 0;
  std::size_t expired = 0;  // removed since the last sweep
};

InMemoryStore::InMemoryStore(StoreOptions options) : data_(std::make_unique<Data>(options)) {}

InMemoryStore::~InMemoryStore() = default;

std::optional<Item> InMemoryStore::get_checked(const StoreNamespace& ns, std::string_view key,
                                               std::optional<bool> refresh_ttl) {
  return data_->run(data_->is_refreshed(refresh_ttl),
                    [&] { return data_->get(ns, key, refresh_ttl); });
}

void InMemoryStore::put_checked(const StoreNamespace& ns, std::string_view key, Value value,
                                const PutOptions& options) {
  if (data_->indexer) return Store::put_checked(ns, key, std::move(value), options);
  store::check_text(key, value);
  store::check_ttl(options, data_->ttl);
  data_->run(true, [&] { data_->put(ns, key, std::move(value), options, {}); });
}

std::vector<StoreResult> InMemoryStore::batch(std::span<const StoreOp> ops) {
  store::check(ops);
  const std::vector<const PutOp*> puts = store::last_puts(ops);
  for (const PutOp* put : puts) store::check_ttl(put->options, data_->ttl);
  const Data::Vectors queries = data_->embed_queries(ops);
  const std::vector<Data::Vectors> texts = data_->vectors_of(puts);

  const bool changes =
      std::ranges::any_of(ops, [this](const StoreOp& op) { return data_->changes_something(op); });
  return data_->run(changes, [&] {
    std::vector<StoreResult> results(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      std::visit([&](const auto& op) { results[i] = data_->read(op, queries[i]); }, ops[i]);
    }
    if (data_->vectors) {
      for (const Data::Vectors& vectors : texts) data_->vectors->check(vectors);
    }
    for (std::size_t i = 0; i < puts.size(); ++i) data_->apply(*puts[i], texts[i]);
    return results;
  });
}

std::size_t InMemoryStore::reindex(const ReindexOptions& options) {
  if (!data_->indexer) return 0;
  constexpr std::size_t kAtOnce = 64;
  const std::vector<ItemId> ids = data_->run(false, [&] { return data_->all_ids(); });
  std::size_t embedded = 0;
  for (std::size_t done = 0; done < ids.size() && !options.stop.stop_requested();) {
    const std::size_t count = std::min(kAtOnce, ids.size() - done);
    embedded += data_->reindex(std::span(ids).subspan(done, count));
    done += count;
    if (options.progress) options.progress(done, ids.size());
  }
  return embedded;
}

std::size_t InMemoryStore::sweep_ttl() {
  return data_->run(true, [&] { return std::exchange(data_->expired, 0); });
}

}  // namespace clew
