// What a client asks for when it starts a run.
#pragma once

#include <string>
#include <vector>

#include "server/parts.hpp"

namespace clew::server {

struct RunRequest {
  std::string assistant_id;  // or a graph's name
  Value input = {};
  Value command = {};
  Value config = object();
  Value context = {};
  Value metadata = object();
  Value checkpoint = object();  // checkpoint_id, checkpoint_ns, checkpoint_map
  Value stream_mode = {};       // a list
  bool stream_subgraphs = false;
  bool stream_resumable = false;
  Value interrupt_before = {};
  Value interrupt_after = {};
  std::string multitask_strategy = "enqueue";
  bool creates_thread = false;
  bool cancels_on_disconnect = false;
  bool keeps_thread = false;  // stateless
  double after_seconds = 0;
  std::string durability = "async";
  Value webhook = {};
  Value feedback_keys = {};

  // Throws ServiceError 422 or 400.
  static RunRequest of(const Value& body, const WebhookPolicy& policy);
};

// Who wants the run, for which it is, and what it is started with.
struct RunOrder {
  const RunRequest& request;
  const Caller& caller;
  const Assistant& assistant;
  const Thread& thread;
  bool is_stateless = false;
  bool is_of_protocol = false;
  std::string cron_id = {};
};

// The row of a new run.
Run new_run(const RunOrder& order, Time now);

}  // namespace clew::server
