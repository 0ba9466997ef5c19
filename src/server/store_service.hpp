// The store's items over JSON. A caller with a store_root sees only namespaces
// that begin with it.
#pragma once

#include <optional>
#include <string>

#include "server/parts.hpp"

namespace clew::server {

class StoreService {
 public:
  explicit StoreService(ServerParts& parts) : parts_(parts) {}

  void put(const Caller& caller, const Value& body);
  // The item, or null. `name_space` is a list of labels.
  Value get(const Caller& caller, const std::optional<std::string>& key, const Value& name_space,
            std::optional<bool> refresh_ttl);
  void remove(const Caller& caller, const Value& body);
  Value search(const Caller& caller, const Value& body);
  Value namespaces(const Caller& caller, const Value& body);

 private:
  ServerParts& parts_;
};

}  // namespace clew::server
