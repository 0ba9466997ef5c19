// What the services of a server share, and the answers they give.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <clew/store.hpp>

#include "server/caller.hpp"
#include "server/checkpoints_after_events.hpp"
#include "server/event_log.hpp"
#include "server/graph_registry.hpp"
#include "server/repository.hpp"
#include "server/service_error.hpp"
#include "server/webhook.hpp"

namespace clew::server {

struct ServiceOptions {
  // How many runs execute at once; more wait. A run that sleeps counts.
  std::size_t workers = 256;

  WebhookPolicy webhooks = {};

  // What threads get that are made without a time to live. Nothing: they stay.
  std::optional<ThreadTtl> default_ttl = {};

  // How often threads are looked at whose time to live has passed.
  std::chrono::milliseconds sweep_interval = std::chrono::minutes(5);

  // The caller of an identity, for runs of his crons: he is not there himself.
  // Null: there is no auth, and everybody sees all.
  std::function<Caller(const std::string& identity)> caller_of = {};

  // The time, for tests.
  std::function<Time()> clock = {};
};

struct ServerParts {
  std::shared_ptr<Repository> repository;
  // The one that the graphs are compiled with.
  std::shared_ptr<CheckpointsAfterEvents> checkpointer;
  std::shared_ptr<Store> store;
  std::shared_ptr<GraphRegistry> graphs;
  std::shared_ptr<WebhookSender> webhooks = {};  // null: runs with a webhook are refused
  ServiceOptions options = {};

  Time now() const;
};

std::chrono::microseconds ttl_duration(const ThreadTtl& ttl);

// A page of a search, with what the pagination headers say.
struct Listing {
  Value rows = {};                       // a list
  std::size_t total = 0;                 // exact on the last page
  std::optional<std::size_t> next = {};  // where the next page begins
};
Listing listing(Value rows, const Page& page, bool has_more);

}  // namespace clew::server
