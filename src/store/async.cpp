#include <clew/store.hpp>

#include "value/call_elsewhere.hpp"

namespace clew {

using internal::call_elsewhere;

Task<void> Store::async_put(StoreNamespace ns, std::string key, Value value, PutOptions options) {
  return call_elsewhere(default_executor(),
                        [this, ns = std::move(ns), key = std::move(key), value = std::move(value),
                         options = std::move(options)] { put(ns, key, value, options); });
}

Task<void> Store::async_put(StoreNamespace ns, std::string key, Value value) {
  return async_put(std::move(ns), std::move(key), std::move(value), PutOptions());
}

Task<std::optional<Item>> Store::async_get(StoreNamespace ns, std::string key,
                                           std::optional<bool> refresh_ttl) {
  return call_elsewhere(default_executor(), [this, ns = std::move(ns), key = std::move(key),
                                             refresh_ttl] { return get(ns, key, refresh_ttl); });
}

Task<void> Store::async_delete_item(StoreNamespace ns, std::string key) {
  return call_elsewhere(default_executor(),
                        [this, ns = std::move(ns), key = std::move(key)] { delete_item(ns, key); });
}

Task<std::vector<SearchItem>> Store::async_search(StoreNamespace prefix, SearchOptions options) {
  return call_elsewhere(default_executor(),
                        [this, prefix = std::move(prefix), options = std::move(options)] {
                          return search(prefix, options);
                        });
}

Task<std::vector<SearchItem>> Store::async_search(StoreNamespace prefix) {
  return async_search(std::move(prefix), SearchOptions());
}

Task<std::vector<StoreNamespace>> Store::async_list_namespaces(ListNamespacesOptions options) {
  return call_elsewhere(default_executor(),
                        [this, options = std::move(options)] { return list_namespaces(options); });
}

Task<std::vector<StoreNamespace>> Store::async_list_namespaces() {
  return async_list_namespaces(ListNamespacesOptions());
}

Task<std::vector<StoreResult>> Store::async_batch(std::vector<StoreOp> ops) {
  return call_elsewhere(default_executor(), [this, ops = std::move(ops)] { return batch(ops); });
}

}  // namespace clew
