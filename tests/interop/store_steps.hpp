// The steps of recorded store scripts, on a store of Clew.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <clew/store.hpp>

#include "temporary_folder.hpp"

namespace clew::interop {

// The embedder of the recordings: counts words in 16 places by their hash.
std::shared_ptr<Embedder> word_counter();

// The index of a recording; nothing for null.
std::optional<IndexOptions> read_index(const Value& recorded);

SearchOptions read_search_options(const Value& step);
StoreNamespace read_namespace(const Value& labels);

// An item as it is recorded: ns, key, value, and the score of one that was found.
Value describe(const Item& item);
Value describe(const std::vector<SearchItem>& items);

// A store under test and how to look into it.
class ScriptedStore {
 public:
  // `backend` is memory or sqlite; `sequence` says its index and times to live. A
  // file is kept in `folder`, under the name of the sequence, or nowhere.
  ScriptedStore(const std::string& backend, const Value& sequence,
                const std::filesystem::path& folder);

  // What a step gives: {"ok": ...} or {"error": the name of Python's error}.
  Value run(const Value& step);

 private:
  Value perform(const Value& step);
  Value batch(const Value& step);
  Value dump_rows();

  const bool is_sqlite_;
  const bool has_index_;
  TemporaryFolder temporary_;
  const std::filesystem::path file_;
  std::shared_ptr<Store> store_;
};

}  // namespace clew::interop
