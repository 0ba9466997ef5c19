#include "server/http_sse.hpp"

#include <gtest/gtest.h>

#include <clew/error.hpp>

namespace clew::server {
namespace {

std::string written(const ServerSentEvent& event) {
  std::string out;
  append_event(out, event);
  return out;
}

TEST(Sse, AnEventIsNameDataAndId) {
  EXPECT_EQ(written({.event = "metadata", .data = {{"run_id", "1"}, {"attempt", 1}}}),
            "event: metadata\r\ndata: {\"run_id\":\"1\",\"attempt\":1}\r\n\r\n");
  EXPECT_EQ(written({.event = "values", .data = nullptr, .id = "17-0"}),
            "event: values\r\ndata: null\r\nid: 17-0\r\n\r\n");
}

TEST(Sse, NothingBreaksALine) {
  EXPECT_EQ(
      written({.event = "a\r\nb\n", .data = "x\r\ny\u2028", .id = std::string_view("1\0\n2", 4)}),
      "event: ab\r\ndata: \"x\\r\\ny\u2028\"\r\nid: 12\r\n\r\n");
  std::string out;
  append_event(out, "e", "{\n \"a\":1}");
  EXPECT_EQ(out, "event: e\r\ndata: {  \"a\":1}\r\n\r\n");
}

TEST(Sse, DataWithoutJsonFormIsRefused) {
  std::string out = "before";
  EXPECT_THROW(append_event(out, {.event = "e", .data = "\xff"}), SerdeError);
  EXPECT_EQ(out, "before");
}

}  // namespace
}  // namespace clew::server
