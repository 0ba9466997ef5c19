// Webhooks on their way to a receiver on this machine.
#include "server/webhook_sender.hpp"

#include <atomic>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/json.hpp>

#include "server/http_test_server.hpp"

namespace clew::server {
namespace {

// Answers as its path says, and remembers what came.
class Receiver {
 public:
  Receiver() : server_(routes(), {}) {}
  ~Receiver() { let_go(); }

  std::string url(const std::string& path, const std::string& host = "127.0.0.1") {
    return "http://" + host + ":" + std::to_string(server_.server.port()) + path;
  }

  std::vector<std::string> received() {
    const std::lock_guard lock(mutex_);
    return received_;
  }

  // Hanging requests are answered.
  void let_go() {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(is_let_go_, true)) go_.set_value();
  }

  std::atomic<int> hanging = 0;
  std::atomic<int> most_hanging = 0;

 private:
  Router routes() {
    Router router;
    for (const int status : {200, 202, 204, 404, 500}) {
      router.add("POST", "/" + std::to_string(status), [this, status](Request& request) {
        note(request);
        return empty_response(status);
      });
    }
    router.add("POST", "/moved", [this](Request& request) {
      note(request);
      return Response{.status = 307, .headers = {{"location", "/200"}}};
    });
    router.add("POST", "/hang", [this](Request& request) {
      const int now = ++hanging;
      int most = most_hanging;
      while (most < now && !most_hanging.compare_exchange_weak(most, now)) continue;
      note(request);
      gone_.wait();
      --hanging;
      return empty_response(200);
    });
    return router;
  }

  void note(const Request& request) {
    const std::lock_guard lock(mutex_);
    const std::string* type = request.headers.find("content-type");
    received_.push_back(request.target + " " + (type ? *type : "") + " " + request.body);
  }

  std::mutex mutex_;
  std::vector<std::string> received_;
  std::promise<void> go_;
  std::shared_future<void> gone_ = go_.get_future().share();
  bool is_let_go_ = false;
  TestServer server_;
};

// How often each `done` was told what.
class Outcomes {
 public:
  std::function<void(bool)> next() {
    const std::lock_guard lock(mutex_);
    told_.push_back(0);
    return [this, index = told_.size() - 1](bool is_taken) {
      const std::lock_guard inner(mutex_);
      told_[index] += is_taken ? 1 : 100;
    };
  }

  // "taken", "refused", "nothing", or a number that tells what went wrong.
  std::string wait_for(std::size_t index) {
    eventually([&] { return at(index) != 0; });
    const int told = at(index);
    return told == 1 ? "taken" : told == 100 ? "refused" : told == 0 ? "nothing" : "too much";
  }

  int at(std::size_t index) {
    const std::lock_guard lock(mutex_);
    return told_.at(index);
  }

 private:
  std::mutex mutex_;
  std::vector<int> told_;
};

WebhookPolicy to_this_machine() { return {.require_https = false, .disable_loopback = false}; }

// What becomes of one webhook.
std::string outcome(HttpWebhookSender& sender, const std::string& url,
                    const Value& body = object()) {
  auto outcomes = std::make_shared<Outcomes>();
  sender.send(url, body, outcomes->next());
  return outcomes->wait_for(0);
}

TEST(WebhookSender, PostsJson) {
  Receiver receiver;
  HttpWebhookSender sender(to_this_machine());
  EXPECT_EQ(outcome(sender, receiver.url("/200?tok=1"), parse_json(R"({"status": "success"})")),
            "taken");
  EXPECT_THAT(receiver.received(),
              testing::ElementsAre(R"(/200?tok=1 application/json {"status":"success"})"));
  const std::string large(200'000, 'x');
  EXPECT_EQ(outcome(sender, receiver.url("/200"), object({{"text", large}})), "taken");
  EXPECT_EQ(receiver.received().back(), R"(/200 application/json {"text":")" + large + R"("})");
}

TEST(WebhookSender, OnlyASuccessIsTaken) {
  Receiver receiver;
  HttpWebhookSender sender(to_this_machine());
  EXPECT_EQ(outcome(sender, receiver.url("/202")), "taken");
  EXPECT_EQ(outcome(sender, receiver.url("/204")), "taken");
  EXPECT_EQ(outcome(sender, receiver.url("/404")), "refused");
  EXPECT_EQ(outcome(sender, receiver.url("/500")), "refused");
  EXPECT_EQ(outcome(sender, receiver.url("/unknown")), "refused");
}

TEST(WebhookSender, RedirectsAreNotFollowed) {
  Receiver receiver;
  HttpWebhookSender sender(to_this_machine());
  EXPECT_EQ(outcome(sender, receiver.url("/moved")), "refused");
  EXPECT_EQ(receiver.received().size(), 1U);
}

TEST(WebhookSender, NamesDoNotLeadWhereAddressesMayNot) {
  Receiver receiver;
  HttpWebhookSender sender({.require_https = false});
  for (const char* host : {"localhost", "127.0.0.1", "127.1", "0.0.0.0", "[::1]",
                           "[::ffff:127.0.0.1]", "2130706433"}) {
    EXPECT_EQ(outcome(sender, receiver.url("/200", host)), "refused") << host;
  }
  EXPECT_TRUE(receiver.received().empty());
  HttpWebhookSender allowed(to_this_machine());
  EXPECT_EQ(outcome(allowed, receiver.url("/200", "localhost")), "taken");
}

TEST(WebhookSender, OtherSchemesAreRefused) {
  Receiver receiver;
  HttpWebhookSender secure({.disable_loopback = false});
  EXPECT_EQ(outcome(secure, receiver.url("/200")), "refused");
  HttpWebhookSender sender(to_this_machine());
  for (const char* url : {"file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "",
                          "http://", "http:// x/"}) {
    EXPECT_EQ(outcome(sender, url), "refused") << url;
  }
  EXPECT_TRUE(receiver.received().empty());
}

TEST(WebhookSender, NobodyListens) {
  std::string url;
  {
    Receiver receiver;
    url = receiver.url("/200");
  }
  HttpWebhookSender sender(to_this_machine());
  EXPECT_EQ(outcome(sender, url), "refused");
}

TEST(WebhookSender, AHangingReceiverIsGivenUp) {
  Receiver receiver;
  HttpWebhookSender sender(to_this_machine(), {.timeout = 200ms});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(outcome(sender, receiver.url("/hang")), "refused");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_EQ(outcome(sender, receiver.url("/200")), "taken");
}

TEST(WebhookSender, SomeAtOnceOthersWait) {
  Receiver receiver;
  Outcomes outcomes;
  HttpWebhookSender sender(to_this_machine(), {.max_concurrent = 2, .max_waiting = 3});
  for (int i = 0; i < 2; ++i) sender.send(receiver.url("/hang"), object(), outcomes.next());
  ASSERT_TRUE(eventually([&] { return receiver.hanging == 2; }));
  for (int i = 0; i < 4; ++i) sender.send(receiver.url("/hang"), object(), outcomes.next());
  EXPECT_EQ(outcomes.wait_for(5), "refused");  // the fourth that waits
  receiver.let_go();
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(outcomes.wait_for(i), "taken") << i;
  EXPECT_EQ(receiver.most_hanging, 2);
}

TEST(WebhookSender, TheEndWaitsForAWhile) {
  Receiver receiver;
  Outcomes outcomes;
  {
    HttpWebhookSender sender(to_this_machine(), {.max_concurrent = 1, .grace = 10s});
    for (int i = 0; i < 20; ++i) sender.send(receiver.url("/200"), object(), outcomes.next());
  }
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(outcomes.at(i), 1) << i;
}

TEST(WebhookSender, WhatIsUnderWayAtTheEndIsToldOnce) {
  Receiver receiver;
  Outcomes outcomes;
  const auto begin = std::chrono::steady_clock::now();
  {
    HttpWebhookSender sender(to_this_machine(), {.max_concurrent = 1, .grace = 50ms});
    for (int i = 0; i < 3; ++i) sender.send(receiver.url("/hang"), object(), outcomes.next());
    ASSERT_TRUE(eventually([&] { return receiver.hanging == 1; }));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(outcomes.at(i), 100) << i;
}

}  // namespace
}  // namespace clew::server
