// Who asks, and what he may see.
#pragma once

#include <string>
#include <vector>

#include <clew/value.hpp>

namespace clew::server {

struct Caller {
  // As auth knows him. Empty where the server runs without auth.
  std::string identity = {};

  // What graphs get as configurable.langgraph_auth_user; null without auth.
  Value user = {};
  std::vector<std::string> permissions = {};

  // Entries that the metadata of everything he sees has, and that everything he
  // makes gets: {"owner": "ada"}. Null: he sees all.
  Value owner = {};

  // The same for assistants. Null: they are shared by all.
  Value assistant_owner = {};

  // The label with which his store namespaces begin. Empty: all are his.
  std::string store_root = {};

  // Headers of his request that the runs he starts see in `configurable`.
  Value configurable = {};

  std::string request_id = {};
};

}  // namespace clew::server
