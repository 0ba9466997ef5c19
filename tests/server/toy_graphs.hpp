// Small graphs to serve: seq, approval, fail, slow, nested, echo, two_asks, ctx.
#pragma once

#include <memory>

#include <clew/checkpointer.hpp>
#include <clew/store.hpp>

#include "server/graph_registry.hpp"

namespace clew::server {

std::shared_ptr<GraphRegistry> make_toy_graphs(std::shared_ptr<Checkpointer> checkpointer,
                                               std::shared_ptr<Store> store);

}  // namespace clew::server
