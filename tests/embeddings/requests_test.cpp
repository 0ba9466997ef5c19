// What is sent, and how answers find their texts.
#include <algorithm>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/json.hpp>

#include "embeddings/endpoint.hpp"
#include "store/embeddings/http_client.hpp"
#include "unit/error_text.hpp"

namespace clew::embeddings {
namespace {

using testing::ElementsAre;

std::vector<Embedder::Vector> vectors_of(const std::vector<std::string>& texts) {
  std::vector<Embedder::Vector> vectors;
  for (const std::string& text : texts) vectors.push_back(vector_of(text));
  return vectors;
}

// The texts of each request, sorted: requests of one call may come in any order.
std::vector<std::string> inputs(const Endpoint& endpoint) {
  std::vector<std::string> inputs;
  for (const Value& request : endpoint.requests()) {
    inputs.push_back(to_json(request["body"]["input"]));
  }
  std::ranges::sort(inputs);
  return inputs;
}

TEST(EmbeddingsRequest, IsWhatTheProtocolSays) {
  Endpoint endpoint("good");
  const auto embedder = endpoint.embedder(
      {.api_key = "sk-1", .dimensions = 2, .headers = {{"OpenAI-Organization", "org-1"}}});
  EXPECT_THAT(embedder->embed_query("\"pizza\"\n\u00e9"), ElementsAre(10, '"'));
  const Value request = endpoint.requests()[0];
  EXPECT_EQ(to_json(request["body"]),
            "{\"model\":\"test\",\"input\":[\"\\\"pizza\\\"\\n\u00e9\"],"
            "\"encoding_format\":\"float\",\"dimensions\":2}");
  EXPECT_EQ(request["headers"]["Content-Type"], Value("application/json"));
  EXPECT_EQ(request["headers"]["Authorization"], Value("Bearer sk-1"));
  EXPECT_EQ(request["headers"]["OpenAI-Organization"], Value("org-1"));
}

TEST(EmbeddingsRequest, LeavesOutWhatIsNotGiven) {
  Endpoint endpoint("good");
  endpoint.embedder()->embed_query("pizza");
  const Value request = endpoint.requests()[0];
  EXPECT_TRUE(request["headers"]["Authorization"].is_null());
  EXPECT_TRUE(request["body"]["dimensions"].is_null());
}

TEST(EmbeddingsRequest, NothingIsSentForNoTexts) {
  Endpoint endpoint("good");
  EXPECT_TRUE(endpoint.embedder()->embed_documents({}).empty());
  EXPECT_EQ(endpoint.requests().size(), 0U);
}

TEST(EmbeddingsRequest, TextsGoInBatches) {
  Endpoint endpoint("good");
  const std::vector<std::string> texts{"a", "bb", "ccc", "dddd", "eeeee"};
  EXPECT_EQ(endpoint.embedder({.batch_size = 2})->embed_documents(texts), vectors_of(texts));
  EXPECT_THAT(inputs(endpoint), ElementsAre(R"(["a","bb"])", R"(["ccc","dddd"])", R"(["eeeee"])"));
}

TEST(EmbeddingsRequest, LongTextsGoInSmallerBatches) {
  Endpoint endpoint("good");
  const std::vector<std::string> texts{std::string(200'000, 'a'), std::string(200'000, 'b'),
                                       std::string(900'000, 'c'), "d", "e"};
  EXPECT_EQ(endpoint.embedder()->embed_documents(texts), vectors_of(texts));
  std::vector<std::size_t> sizes;
  for (const Value& request : endpoint.requests()) sizes.push_back(request["body"]["input"].size());
  EXPECT_THAT(sizes, testing::UnorderedElementsAre(1, 1, 1, 2));
}

TEST(EmbeddingsRequest, IdenticalTextsAreSentOnce) {
  Endpoint endpoint("good");
  const std::vector<std::string> texts{"pizza", "soup", "pizza", "pizza"};
  EXPECT_EQ(endpoint.embedder()->embed_documents(texts), vectors_of(texts));
  EXPECT_THAT(inputs(endpoint), ElementsAre(R"(["pizza","soup"])"));
}

TEST(EmbeddingsRequest, AnswersMayComeInAnyOrder) {
  const std::vector<std::string> texts{"pizza", "soup", "bread"};
  EXPECT_EQ(Endpoint("answers_backwards").embedder()->embed_documents(texts), vectors_of(texts));
}

TEST(EmbeddingsRequest, AnswersMayComeInBase64) {
  const std::vector<std::string> texts{"pizza", "soup", "bread"};
  EXPECT_EQ(Endpoint("answers_in_base64").embedder()->embed_documents(texts), vectors_of(texts));
}

TEST(EmbeddingsRequest, TextThatIsNoUtf8IsNotSent) {
  Endpoint endpoint("good");
  EXPECT_THAT(error_text<SerdeError>([&] { endpoint.embedder()->embed_query("\xff"); }),
              testing::HasSubstr("$.input[0]"));
  EXPECT_EQ(endpoint.requests().size(), 0U);
}

TEST(EmbeddingsRequest, OneEmbedderServesManyThreads) {
  Endpoint endpoint("good");
  const auto embedder = endpoint.embedder({.batch_size = 2, .max_concurrency = 2});
  std::vector<std::vector<Embedder::Vector>> made(8);
  std::vector<std::vector<std::string>> texts(made.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < made.size(); ++i) {
      for (std::size_t size = 1; size < 8; ++size) {
        texts[i].emplace_back(size, static_cast<char>('a' + i));
      }
      threads.emplace_back([&, i] { made[i] = embedder->embed_documents(texts[i]); });
    }
  }
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i], vectors_of(texts[i]));
}

TEST(EmbeddingsRequest, ConnectionsAreKept) {
  Endpoint endpoint("good");
  const auto embedder = endpoint.embedder();
  embedder->embed_query("pizza");
  embedder->embed_query("soup");
  EXPECT_EQ(endpoint.requests()[0]["port"], endpoint.requests()[1]["port"]);
}

TEST(EmbeddingsRequest, GoesThroughTheProxy) {
  // The server of the tests takes requests for other hosts too, as a proxy gets them.
  Endpoint endpoint("good");
  const std::string path = endpoint.base_url().substr(endpoint.base_url().find("/v1"));
  const std::string proxy = endpoint.base_url().substr(0, endpoint.base_url().find("/v1"));
  const auto embedder = init_embeddings(
      "openai:test", {.base_url = "http://embeddings.invalid" + path, .proxy = proxy});
  EXPECT_EQ(embedder->embed_query("pizza"), vector_of("pizza"));
  EXPECT_EQ(endpoint.requests()[0]["target"],
            Value("http://embeddings.invalid" + path + "/embeddings"));
}

}  // namespace
}  // namespace clew::embeddings
