// Sends webhooks over HTTP.
//
//   auto sender = std::make_shared<HttpWebhookSender>(webhook_policy(config.webhooks));
//   sender->send("https://hooks.example/run", body, [](bool is_taken) { ... });
//
// A receiver took it if it answers 2xx in time; redirects are not followed. The
// address that is connected to is checked against the policy when the name has
// been resolved, so a name cannot lead to where a URL may not. Therefore, unless
// the policy allows all addresses, no proxy of the environment is used: it would
// resolve names on its own.
//
// One thread does all the work, and calls `done`.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "server/webhook.hpp"

namespace clew::server {

struct WebhookSenderOptions {
  std::chrono::milliseconds timeout{10'000};  // for all of it
  std::chrono::milliseconds connect_timeout{5'000};

  // How many are sent at once; more wait, up to a limit beyond which they count
  // as not taken.
  std::size_t max_concurrent = 64;
  std::size_t max_waiting = 10'000;

  // How long the destructor goes on sending. What is left then was not taken.
  std::chrono::milliseconds grace{1'000};
};

class HttpWebhookSender final : public WebhookSender {
 public:
  // Throws Error if libcurl does not start.
  explicit HttpWebhookSender(WebhookPolicy policy, WebhookSenderOptions options = {});
  ~HttpWebhookSender() override;  // not from within `done`

  void send(const std::string& url, const Value& body,
            std::function<void(bool is_taken)> done) override;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace clew::server
