// Assistants: a graph with a configuration and a history of versions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/parts.hpp"

namespace clew::server {

class AssistantService {
 public:
  explicit AssistantService(ServerParts& parts) : parts_(parts) {}

  // One assistant for each graph, under an id that follows from its name.
  void make_system_assistants();

  Value create(const Caller& caller, const Value& body);
  Listing search(const Caller& caller, const Value& body);
  std::size_t count(const Caller& caller, const Value& body);
  Value get(const Caller& caller, const std::string& id);
  Value patch(const Caller& caller, const std::string& id, const Value& body);
  // The ids of threads that the caller has of this assistant, if he wants them gone too.
  std::vector<std::string> remove(const Caller& caller, const std::string& id, bool delete_threads);
  Value versions(const Caller& caller, const std::string& id, const Value& body);
  Value set_latest(const Caller& caller, const std::string& id, const Value& body);

  // `id` may be a graph's name.
  Value graph(const Caller& caller, const std::string& id, Xray xray);
  Value schemas(const Caller& caller, const std::string& id);
  Value subgraphs(const Caller& caller, const std::string& id,
                  const std::optional<std::string>& name_space, bool recurse);

 private:
  Assistant find(const Caller& caller, const std::string& id);
  std::shared_ptr<const HostedGraph> graph_of(const Assistant& assistant);

  ServerParts& parts_;
};

// The assistant that `id_or_graph` names: an id, or a graph's name for its system
// assistant. Throws ServiceError 422 for a name that no graph has; nothing for
// an unknown id.
std::optional<Assistant> resolve_assistant(const Tables& tables, const GraphRegistry& graphs,
                                           const Caller& caller, const std::string& id_or_graph);

std::string system_assistant_id(std::string_view graph_id);

}  // namespace clew::server
