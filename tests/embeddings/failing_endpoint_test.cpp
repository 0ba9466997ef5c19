// Endpoints that are slow, broken or lying: what fails says why and stores
// nothing; what passes is retried.
#include <unistd.h>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <clew/errors.hpp>

#include "embeddings/endpoint.hpp"
#include "unit/error_text.hpp"

namespace clew::embeddings {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::StartsWith;

// An embedder that becomes another one, as if the endpoint had changed.
class Replaceable final : public Embedder {
 public:
  std::vector<Vector> embed_documents(std::span<const std::string> texts) override {
    return target->embed_documents(texts);
  }

  std::shared_ptr<Embedder> target;
};

// A store with one item, made while all was well.
class StoreWithItem {
 public:
  StoreWithItem() {
    embedder_->target = Endpoint("good").embedder();
    store_.put({"memories"}, "food", {{"title", "older"}, {"text", "I like pizza"}});
  }

  // The error of a put with two texts; or what is wrong in the store thereafter.
  std::string failing_put(std::shared_ptr<Embedder> embedder) {
    embedder_->target = std::move(embedder);
    std::string text = error_text<EmbeddingError>([this] {
      store_.put({"memories"}, "food", {{"title", "newer"}, {"text", "I like soup"}});
    });
    embedder_->target = Endpoint("good").embedder();
    const std::vector<SearchItem> found = store_.search({}, {.query = "older"});
    if (found.size() != 1 || found[0].value["title"] != Value("older") || found[0].score < 0.999) {
      text += "; and the older item has changed";
    }
    return text;
  }

 private:
  std::shared_ptr<Replaceable> embedder_ = std::make_shared<Replaceable>();
  InMemoryStore store_{
      StoreOptions{.index = IndexOptions{.embed = embedder_, .fields = {"title", "text"}}}};
};

struct Fault {
  const char* behaviour;
  std::size_t requests;
  const char* error;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.behaviour; }

class FailingEndpoint : public testing::TestWithParam<Fault> {};

TEST_P(FailingEndpoint, SaysWhyAndStoresNothing) {
  Endpoint endpoint(GetParam().behaviour);
  const auto embedder = endpoint.embedder(
      {.api_key = "sk-very-secret", .headers = {{"X-Tenant", "tenant-secret"}}, .max_retries = 1});
  EXPECT_EQ(endpoint.without_address(StoreWithItem().failing_put(embedder)),
            std::string("openai:test at SERVER: ") + GetParam().error);
  EXPECT_EQ(endpoint.requests().size(), GetParam().requests);
}

INSTANTIATE_TEST_SUITE_P(
    Embeddings, FailingEndpoint,
    testing::Values(
        Fault{"fails", 2, "answered 503: the model is being loaded (tried 2 times)"},
        Fault{"asks_to_wait_an_hour", 1,
              "answered 429: the quota is used up; asks to wait 3600 s, and max_retry_wait "
              "allows 30 s"},
        Fault{"knows_no_key", 1,
              "the API key was refused (401); check OPENAI_API_KEY or EmbeddingsOptions::api_key"},
        Fault{"forbids_and_quotes_the_headers", 1, "answered 403: not for Bearer *** of ***"},
        Fault{"knows_no_model", 1,
              "not found (404): The model `test` does not exist; check the name of the model, and "
              "that base_url is right"},
        Fault{"refuses", 1, "answered 400: '$.input' is invalid and this is another line"},
        Fault{"has_moved", 1,
              "redirected (308) to http://SERVER/elsewhere/embeddings; set base_url to where the "
              "endpoint is"},
        Fault{"answers_a_page", 1,
              "the answer is not JSON (json at byte 0: expected a value, found '<'): <html> "
              "<body>Welcome</body> </html>"},
        Fault{"answers_nothing", 1, "the answer is empty"},
        Fault{"answers_an_error", 1, "the answer has no list 'data': no model is loaded"},
        Fault{"leaves_one_out", 1, "the answer has 1 vectors for 2 texts"},
        Fault{"makes_one_longer", 1, "vector 1 has 4 dimensions and vector 0 has 3"},
        Fault{"makes_nan", 1, "vector 1 holds a number that is not finite"}),
    [](const auto& test) { return test.param.behaviour; });

class BreakingEndpoint : public testing::TestWithParam<const char*> {};

TEST_P(BreakingEndpoint, SaysSoAndStoresNothing) {
  Endpoint endpoint(GetParam());
  const std::string error =
      endpoint.without_address(StoreWithItem().failing_put(endpoint.embedder({.max_retries = 1})));
  EXPECT_THAT(error, StartsWith("openai:test at SERVER: the connection to SERVER broke before the "
                                "answer was complete: "));
  EXPECT_THAT(error, EndsWith("(tried 2 times)"));
  EXPECT_EQ(endpoint.requests().size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Embeddings, BreakingEndpoint, testing::Values("cuts", "closes_at_once"),
                         [](const auto& test) { return test.param; });

TEST(Embeddings, SayWhichTimeoutEndedTheAnswer) {
  Endpoint endpoint("hangs");
  const auto embedder = endpoint.embedder({.timeout = 1s, .max_retries = 1});
  EXPECT_EQ(endpoint.without_address(StoreWithItem().failing_put(embedder)),
            "openai:test at SERVER: no complete answer from SERVER within 1000 ms; timeout allows "
            "longer (tried 2 times)");
}

TEST(Embeddings, SayThatTheKeyIsMissing) {
  Endpoint endpoint("knows_no_key");
  EXPECT_EQ(endpoint.without_address(StoreWithItem().failing_put(endpoint.embedder())),
            "openai:test at SERVER: the API key was missing (401); check OPENAI_API_KEY or "
            "EmbeddingsOptions::api_key");
}

TEST(Embeddings, RefuseVectorsOfAnotherLengthThanAskedFor) {
  Endpoint endpoint("ignores_dimensions");
  EXPECT_EQ(
      endpoint.without_address(StoreWithItem().failing_put(endpoint.embedder({.dimensions = 2}))),
      "openai:test at SERVER: asked for 2 dimensions, and got 3; can the model shorten its "
      "vectors?");
}

TEST(Embeddings, RefuseBatchesOfUnequalLength) {
  Endpoint endpoint("makes_each_batch_longer");
  const std::vector<std::string> texts{"a", "b", "c"};
  EXPECT_EQ(endpoint.without_address(error_text<EmbeddingError>(
                [&] { endpoint.embedder({.batch_size = 2})->embed_documents(texts); })),
            "openai:test at SERVER: vectors of one call have 5 and 4 dimensions");
}

TEST(Embeddings, TheFirstErrorStopsTheOtherRequestsOfTheCall) {
  Endpoint endpoint("fails_for_bad_and_hangs_for_others");
  const std::vector<std::string> texts{"hangs", "bad", "hangs too", "never sent"};
  const auto embedder =
      endpoint.embedder({.batch_size = 1, .max_concurrency = 3, .timeout = std::chrono::hours(1)});
  EXPECT_EQ(endpoint.without_address(
                error_text<EmbeddingError>([&] { embedder->embed_documents(texts); })),
            "openai:test at SERVER: answered 400: bad text");
}

// ---- What passes

struct Recovery {
  const char* behaviour;
  std::size_t requests;
};

void PrintTo(const Recovery& recovery, std::ostream* out) { *out << recovery.behaviour; }

class PassingFault : public testing::TestWithParam<Recovery> {};

TEST_P(PassingFault, IsRetried) {
  Endpoint endpoint(GetParam().behaviour);
  const std::vector<std::string> texts{"pizza", "soup"};
  EXPECT_THAT(endpoint.embedder({.timeout = 2s})->embed_documents(texts),
              ElementsAre(vector_of("pizza"), vector_of("soup")));
  EXPECT_EQ(endpoint.requests().size(), GetParam().requests);
  EXPECT_EQ(endpoint.waits().size(), GetParam().requests - 1);
}

INSTANTIATE_TEST_SUITE_P(Embeddings, PassingFault,
                         testing::Values(Recovery{"fails_twice", 3}, Recovery{"conflicts_once", 2},
                                         Recovery{"hangs_once", 2}, Recovery{"cuts_once", 2},
                                         Recovery{"asks_to_wait", 2}),
                         [](const auto& test) { return test.param.behaviour; });

TEST(Embeddings, WaitAsLongAsTheServerAsks) {
  Endpoint endpoint("asks_to_wait");
  endpoint.embedder()->embed_query("pizza");
  EXPECT_THAT(endpoint.waits(), ElementsAre(7s));
}

TEST(Embeddings, WaitLongerEachTime) {
  Endpoint endpoint("fails_twice");
  endpoint.embedder()->embed_query("pizza");
  const std::vector<std::chrono::milliseconds> waits = endpoint.waits();
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_TRUE(waits[0] >= 250ms && waits[0] <= 500ms);
  EXPECT_TRUE(waits[1] >= 500ms && waits[1] <= 1s);
}

// ---- No server

// A port of this machine that is taken, and where nobody answers.
class Port {
 public:
  Port() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    if (::bind(socket_, as_sockaddr(), size) != 0) throw Error("cannot bind to a port");
    ::getsockname(socket_, as_sockaddr(), &size);
  }
  ~Port() {
    for (int client : clients_) ::close(client);
    ::close(socket_);
  }

  // Lets callers in until the queue is full: all others hang while they connect.
  void fill_queue() {
    ::listen(socket_, 0);
    for (int i = 0; i < 4; ++i) {
      clients_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
      ::connect(clients_.back(), as_sockaddr(), sizeof(address_));
    }
  }

  std::string endpoint() const { return "127.0.0.1:" + std::to_string(ntohs(address_.sin_port)); }

 private:
  sockaddr* as_sockaddr() { return reinterpret_cast<sockaddr*>(&address_); }

  sockaddr_in address_{};
  int socket_;
  std::vector<int> clients_;
};

TEST(Embeddings, NameTheEndpointThatIsDown) {
  const Port port;
  const auto embedder = init_embeddings(
      "openai:test", {.base_url = "http://" + port.endpoint() + "/v1", .max_retries = 0});
  EXPECT_EQ(StoreWithItem().failing_put(embedder), "openai:test at " + port.endpoint() +
                                                       ": cannot connect to " + port.endpoint() +
                                                       ": Connection refused");
}

TEST(Embeddings, SayWhichTimeoutEndedConnecting) {
  Port port;
  port.fill_queue();
  const auto embedder = init_embeddings(
      "openai:test",
      {.base_url = "http://" + port.endpoint(), .connect_timeout = 100ms, .max_retries = 0});
  EXPECT_EQ(StoreWithItem().failing_put(embedder),
            "openai:test at " + port.endpoint() + ": no connection to " + port.endpoint() +
                " within 100 ms; connect_timeout allows longer");
}

}  // namespace
}  // namespace clew::embeddings
