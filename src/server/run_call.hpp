// The engine's call that a stored run stands for.
#pragma once

#include <vector>

#include <clew/config.hpp>

#include "server/graph_registry.hpp"
#include "server/records.hpp"

namespace clew::server {

struct RunCall {
  Value input;
  Config config;
};

// `run` with its kwargs as RunService made them.
RunCall run_call(const Run& run, const HostedGraph& graph);

// A Command of {"resume", "update", "goto"}. Throws ServiceError 422.
Value command_of(const Value& command);

}  // namespace clew::server
