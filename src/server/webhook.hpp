// Tells others that a run has ended.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <clew/value.hpp>

namespace clew::server {

class WebhookSender {
 public:
  WebhookSender() = default;
  WebhookSender(const WebhookSender&) = delete;
  WebhookSender& operator=(const WebhookSender&) = delete;
  virtual ~WebhookSender() = default;

  // Starts to send `body` as JSON with POST; `done` is told once whether the
  // receiver took it. Called from any thread; must not wait for the receiver.
  virtual void send(const std::string& url, const Value& body,
                    std::function<void(bool is_taken)> done) = 0;
};

struct WebhookPolicy {
  // Also plain http, and hosts of the own machine or network.
  bool allow_private = false;

  int max_attempts = 3;
};

// Throws ServiceError 422 unless `url` is https to a host that is not written as
// an address of the own machine or network. A name that resolves to such an
// address must be refused by the sender, which resolves it.
void check_webhook(std::string_view url, const WebhookPolicy& policy);

// Whether a numeric address is one that webhooks do not reach: loopback, private,
// link-local, unspecified or multicast. False for a name.
bool is_private_address(std::string_view host);

}  // namespace clew::server
