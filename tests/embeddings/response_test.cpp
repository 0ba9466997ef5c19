#include "store/embeddings/response.hpp"

#include <gtest/gtest.h>

#include <clew/errors.hpp>

#include "unit/error_text.hpp"

namespace clew::embeddings {
namespace {

using Vectors = std::vector<Embedder::Vector>;

std::string refusal(std::string_view body, std::size_t count = 1) {
  return error_text<EmbeddingError>([&] { read_vectors(body, count); });
}

// The answer with this vector alone.
std::string answer(std::string_view vector) {
  return R"({"data":[{"index":0,"embedding":)" + std::string(vector) + "}]}";
}

TEST(EmbeddingsResponse, VectorsAreListsOfNumbers) {
  EXPECT_EQ(read_vectors(answer("[1, -0.5, 2e-3, 0]"), 1), (Vectors{{1, -0.5, 0.002F, 0}}));
}

TEST(EmbeddingsResponse, OrBase64OfFloats) {
  EXPECT_EQ(read_vectors(answer(R"("AACAPwAAAL8=")"), 1), (Vectors{{1, -0.5}}));
  EXPECT_EQ(read_vectors(answer(R"("AACAPw==")"), 1), (Vectors{{1}}));
  EXPECT_EQ(read_vectors(answer(R"("AACAPwAAAL8AAIA/")"), 1), (Vectors{{1, -0.5, 1}}));
}

TEST(EmbeddingsResponse, WithoutIndexesTheOrderCounts) {
  EXPECT_EQ(read_vectors(R"({"data":[{"embedding":[1]},{"embedding":[2]}]})", 2),
            (Vectors{{1}, {2}}));
}

TEST(EmbeddingsResponse, RefusesVectorsThatAreNone) {
  EXPECT_EQ(refusal(answer("null")), "entry 0 of 'data' has no list of numbers named 'embedding'");
  EXPECT_EQ(refusal(answer("[]")), "vector 0 is empty");
  EXPECT_EQ(refusal(answer("[1, null]")), "vector 0 holds null where a 32-bit float belongs");
  EXPECT_EQ(refusal(answer("[123456789012345678901234567890]")),
            "vector 0 holds int where a 32-bit float belongs");
  EXPECT_EQ(refusal(answer("[1, [2]]")), "vector 0 holds list where a 32-bit float belongs");
  for (const char* number : {"NaN", "-Infinity", "1e400", "3.5e38"}) {
    EXPECT_EQ(refusal(answer("[1," + std::string(number) + "]")),
              "vector 0 holds a number that is not finite");
  }
}

TEST(EmbeddingsResponse, RefusesBrokenBase64) {
  for (const char* text : {"AACAP", "AAC*", "====", "A===", " AACAPw ", "\\u00e9AA"}) {
    EXPECT_EQ(refusal(answer('"' + std::string(text) + '"')), "vector 0 is text that is not base64")
        << text;
  }
  EXPECT_EQ(refusal(answer(R"("AACAPwA=")")), "vector 0 has 5 bytes, which are no 32-bit floats");
  EXPECT_EQ(refusal(answer(R"("AADAfw==")")), "vector 0 holds a number that is not finite");
  EXPECT_EQ(refusal(answer(R"("")")), "vector 0 is empty");
}

TEST(EmbeddingsResponse, RefusesIndexesThatDoNotFit) {
  EXPECT_EQ(refusal(R"({"data":[{"index":1,"embedding":[1]}]})"),
            "entry 0 of 'data' has an 'index' that is not below 1");
  EXPECT_EQ(refusal(R"({"data":[{"index":-1,"embedding":[1]}]})"),
            "entry 0 of 'data' has an 'index' that is not below 1");
  EXPECT_EQ(refusal(R"({"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]})", 2),
            "the answer has two vectors for text 1");
}

TEST(EmbeddingsResponse, RefusesWhatIsNoAnswer) {
  EXPECT_EQ(refusal("[]"), "the answer has no list 'data': []");
  EXPECT_EQ(refusal(R"({"data":{}})"), "the answer has no list 'data': {\"data\":{}}");
  EXPECT_EQ(refusal(R"({"data":[1]})"),
            "entry 0 of 'data' has no list of numbers named 'embedding'");
  EXPECT_EQ(refusal(R"({"data":[{"ind)"),
            "the answer is not JSON (json at byte 10: the string that begins here is not closed): "
            "{\"data\":[{\"ind");
}

TEST(EmbeddingsResponse, ReasonIsTheMessageOfTheServer) {
  EXPECT_EQ(read_reason(R"({"error":{"message":"too long"}})"), "too long");
  EXPECT_EQ(read_reason(R"({"error":"model not found"})"), "model not found");
  EXPECT_EQ(read_reason(R"({"message":"no"})"), "no");
  EXPECT_EQ(read_reason(R"({"detail":"Not Found"})"), "Not Found");
  EXPECT_EQ(read_reason(R"({"code":7})"), R"({"code":7})");
  EXPECT_EQ(read_reason(""), "");
}

TEST(EmbeddingsResponse, QuotesAreOneShortLine) {
  EXPECT_EQ(quote("a\r\n\tb\xff"), "a b?");
  std::string long_text;
  for (int i = 0; i < 400; ++i) long_text += "\u00e9";
  EXPECT_EQ(quote(long_text), long_text.substr(0, 300) + "...");
}

}  // namespace
}  // namespace clew::embeddings
