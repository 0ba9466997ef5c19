// Tells others that a run has ended.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include <clew/value.hpp>

namespace clew::server {

struct WebhookConfig;

class WebhookSender {
 public:
  WebhookSender() = default;
  WebhookSender(const WebhookSender&) = delete;
  WebhookSender& operator=(const WebhookSender&) = delete;
  virtual ~WebhookSender() = default;

  // Starts to send `body` as JSON with POST; `done` is told once whether the
  // receiver took it, and must neither throw nor wait. Called from any thread;
  // must not wait for the receiver.
  virtual void send(const std::string& url, const Value& body,
                    std::function<void(bool is_taken)> done) = 0;
};

struct WebhookPolicy {
  // Else plain http is allowed as well.
  bool require_https = true;

  // The own machine is not reached, nor is the network it is in: private,
  // link-local and multicast addresses.
  bool disable_loopback = true;
  bool disable_private_ips = true;

  // How often a receiver is told that does not take it, and how long before the
  // second time; before each later one it is twice as long as before.
  int max_attempts = 3;
  std::chrono::milliseconds retry_delay{1000};
};

WebhookPolicy webhook_policy(const WebhookConfig& config);

// Throws ServiceError 422 unless `url` is one that the policy allows. A name that
// resolves to an address that it does not allow must be refused by the sender,
// which resolves it.
void check_webhook(std::string_view url, const WebhookPolicy& policy);

// Whether a webhook may go to a numeric address. True for a name, of which
// nothing is known.
bool may_reach(std::string_view address, const WebhookPolicy& policy);

}  // namespace clew::server
