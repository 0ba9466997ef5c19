#include "store/embeddings/http_client.hpp"

#include <gtest/gtest.h>

#include "embeddings/endpoint.hpp"
#include "unit/error_text.hpp"

namespace clew::embeddings {
namespace {

TEST(HttpClient, EndpointIsHostAndPort) {
  EXPECT_EQ(endpoint_of("https://api.openai.com/v1"), "api.openai.com:443");
  EXPECT_EQ(endpoint_of("http://user:password@localhost:11434/v1"), "localhost:11434");
  EXPECT_EQ(endpoint_of("http://[::1]/v1"), "[::1]:80");
  for (const char* other : {"", "localhost/v1", "ftp://host/v1", "file:///etc/hosts", "http://"}) {
    EXPECT_EQ(error_text<ValueError>([other] { endpoint_of(other); }),
              "expected a URL that begins with http:// or https://")
        << other;
  }
}

TEST(HttpClient, GivesUpAnswersThatAreTooLong) {
  Endpoint endpoint("good");
  HttpClient client({.max_bytes = 20});
  EXPECT_EQ(endpoint.without_address(error_text<HttpError>([&] {
    client.post({endpoint.base_url() + "/embeddings", {}, R"({"input":["a"]})"});
  })),
            "the answer of SERVER is longer than 20 bytes");
}

TEST(HttpClient, StopsWhenAsked) {
  Endpoint endpoint("hangs");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(endpoint.without_address(error_text<HttpError>([&] {
    HttpClient({}).post({endpoint.base_url() + "/embeddings", {}, "{}"}, stop.get_token());
  })),
            "the request to SERVER was stopped");
}

}  // namespace
}  // namespace clew::embeddings
