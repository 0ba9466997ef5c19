// serve(): a server as a user's program has it, from its start to its end.
#include <chrono>
#include <fstream>
#include <future>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/clew.hpp>
#include <clew/server.hpp>

#include "temporary_folder.hpp"
#include "test_client.hpp"

namespace clew::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Greeting {
  std::string name;
  std::string text;
};
CLEW_STATE(Greeting, name, text)

StateGraph<Greeting> make_greeter() {
  return StateGraph<Greeting>()
      .add_node("greet",
                [](const Greeting& state) { return Update{{"text", "hello " + state.name}}; })
      .add_edge(START, "greet")
      .add_edge("greet", END);
}

struct DeafState {
  int seconds = 0;
};
CLEW_STATE(DeafState, seconds)

// Its node does not look at its stop token.
StateGraph<DeafState> make_deaf() {
  return StateGraph<DeafState>()
      .add_node("deaf",
                [](const DeafState& state) {
                  std::this_thread::sleep_for(std::chrono::seconds(state.seconds));
                  return Update{};
                })
      .add_edge(START, "deaf")
      .add_edge("deaf", END);
}

// Serves until it is destroyed.
class ServedGraphs {
 public:
  explicit ServedGraphs(ServerOptions options) {
    options.stop = stop_.get_token();
    options.on_ready = [this](const ServerInfo& now) { ready_.set_value(now); };
    thread_ = std::thread([this, options] {
      try {
        serve({{"greeter", make_greeter}, {"deaf", make_deaf}}, options);
      } catch (...) {
        ready_.set_exception(std::current_exception());
      }
    });
    try {
      info = ready_.get_future().get();
    } catch (...) {
      thread_.join();
      throw;
    }
  }
  ~ServedGraphs() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  std::uint16_t port() const {
    return static_cast<std::uint16_t>(std::stoi(info.url.substr(info.url.rfind(':') + 1)));
  }
  TestClient client() const { return TestClient(port()); }

  ServerInfo info;

 private:
  std::stop_source stop_;
  std::promise<ServerInfo> ready_;
  std::thread thread_;
};

ServerOptions options_in(const TemporaryFolder& folder) {
  ServerOptions options;
  options.data = folder.path / "data";
  options.port = 0;
  return options;
}

std::string refusal(const ServerOptions& options) {
  try {
    const ServedGraphs server(options);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Serve, RunsGraphsAndTellsWhatItServes) {
  const TemporaryFolder folder;
  const ServedGraphs server(options_in(folder));
  EXPECT_THAT(server.info.graphs, ElementsAre("deaf", "greeter"));
  EXPECT_EQ(server.info.storage, (folder.path / "data" / "clew.db").string());
  EXPECT_THAT(server.info.auth, HasSubstr("none"));
  const TestResponse answer = server.client().request(
      "POST", "/runs/wait", R"({"assistant_id": "greeter", "input": {"name": "ada"}})");
  EXPECT_EQ(answer.body, R"({"name":"ada","text":"hello ada"})");
}

TEST(Serve, WhatWasStoredIsThereAtTheNextStart) {
  const TemporaryFolder folder;
  std::string thread;
  {
    const ServedGraphs server(options_in(folder));
    const std::string body = server.client().request("POST", "/threads", "{}").body;
    thread = body.substr(body.find(':') + 2, 36);
  }
  const ServedGraphs server(options_in(folder));
  EXPECT_EQ(server.client().get("/threads/" + thread).status, 200);
}

TEST(Serve, ATakenPortIsAnErrorOrTheNextOneIsTried) {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  const ServedGraphs first(options_in(folder));
  ServerOptions options = options_in(other);
  options.port = first.port();
  EXPECT_THAT(refusal(options), HasSubstr("cannot listen on 127.0.0.1:"));
  options.tries_next_port = true;
  const ServedGraphs second(options);
  EXPECT_GT(second.port(), first.port());
}

TEST(Serve, AFolderHasOneServerAtATime) {
  const TemporaryFolder folder;
  const ServedGraphs server(options_in(folder));
  EXPECT_THAT(refusal(options_in(folder)), HasSubstr("another server keeps its data in"));
}

TEST(Serve, AFolderThatIsAFileIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "data") << "mine";
  EXPECT_THAT(refusal(options_in(folder)), HasSubstr("cannot make the folder"));
}

TEST(Serve, WithoutAuthItAnswersOnlyToLocalNames) {
  const TemporaryFolder folder;
  const ServedGraphs server(options_in(folder));
  const auto status = [&](const std::string& host) {
    TestClient client = server.client();
    client.send("GET /threads/1 HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return client.read_response().status;
  };
  for (const char* host : {"localhost", "localhost:2024", "127.0.0.1:1", "[::1]:2024"}) {
    EXPECT_EQ(status(host), 422) << host;
  }
  for (const char* host :
       {"evil.example", "127.evil.example", "localhost.evil.example:80", "10.0.0.1"}) {
    EXPECT_EQ(status(host), 403) << host;
  }
}

TEST(Serve, WithoutAuthPagesOfOthersChangeNothing) {
  const TemporaryFolder folder;
  const ServedGraphs server(options_in(folder));
  const auto status = [&](const char* origin) {
    return server.client()
        .request("POST", "/threads", "{}", "Origin: " + std::string(origin) + "\r\n")
        .status;
  };
  EXPECT_EQ(status("https://evil.example"), 403);
  EXPECT_EQ(status("null"), 403);
  EXPECT_EQ(status("http://localhost"), 200);
}

TEST(Serve, ANodeThatDoesNotStopDoesNotKeepTheServer) {
  const TemporaryFolder folder;
  ServerOptions options = options_in(folder);
  options.shutdown_timeout = std::chrono::milliseconds(100);
  std::chrono::steady_clock::time_point told;
  {
    const ServedGraphs server(options);
    const TestResponse created = server.client().request(
        "POST", "/runs", R"({"assistant_id": "deaf", "input": {"seconds": 8}})");
    EXPECT_EQ(created.status, 200) << created.body;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    told = std::chrono::steady_clock::now();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - told, std::chrono::seconds(6));
}

}  // namespace
}  // namespace clew::server
