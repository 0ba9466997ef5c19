// A store whose searches give items without a score in the order in which they
// were first stored, as the recorded one does. Stores in files give what was put
// last first; everything else they must do as recorded.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <clew/store.hpp>

namespace clew::conformance {

class FirstStored final : public Store {
 public:
  explicit FirstStored(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  std::vector<StoreResult> batch(std::span<const StoreOp> ops) override;
  std::size_t reindex(const ReindexOptions& options) override { return store_->reindex(options); }
  std::size_t sweep_ttl() override { return store_->sweep_ttl(); }

 private:
  using Name = std::pair<StoreNamespace, std::string>;

  void note(const PutOp& put);
  void sort_unscored(std::vector<SearchItem>& items) const;
  std::pair<std::ptrdiff_t, std::ptrdiff_t> place_of(const Item& item) const;

  const std::shared_ptr<Store> store_;
  std::mutex mutex_;
  std::vector<Name> names_;  // of the items that are there, by when they came
};

}  // namespace clew::conformance
