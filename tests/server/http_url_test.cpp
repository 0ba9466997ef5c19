#include "server/http_url.hpp"

#include <gtest/gtest.h>

namespace clew::server {
namespace {

std::string render(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += "[" + name + "=" + value + "]";
  return text;
}

int status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const HttpError& error) {
    return error.status();
  }
  return 0;
}

TEST(Url, EscapesAreDecoded) {
  EXPECT_EQ(percent_decode("a%20b%2Fc%C3%bc+"), "a b/c\u00fc+");
  EXPECT_EQ(percent_decode("a+b%2B", Plus::space), "a b+");
}

TEST(Url, WhatIsMalformedIsRefused) {
  for (const char* text : {"%", "%4", "%zz", "a%0", "%00", "%ff", "%c3"}) {
    EXPECT_EQ(status_of([text] { percent_decode(text); }), 400) << text;
  }
}

TEST(Url, QueryKeepsOrderAndRepetition) {
  EXPECT_EQ(render(parse_query("b=1&a=x+y&b=%26&flag&=v&&c=d=e")),
            "[b=1][a=x y][b=&][flag=][=v][c=d=e]");
  EXPECT_EQ(render(parse_query("")), "");
  EXPECT_EQ(status_of([] { parse_query("a=%f"); }), 400);
}

TEST(Url, TargetsAreSplit) {
  EXPECT_EQ(split_target("/a/b?c=d?e").path, "/a/b");
  EXPECT_EQ(split_target("/a/b?c=d?e").query, "c=d?e");
  EXPECT_EQ(split_target("http://host:80/a?b").path, "/a");
  EXPECT_EQ(split_target("HTTP://host").path, "/");
  EXPECT_EQ(split_target("http://host?q").query, "q");
  EXPECT_EQ(split_target("/a#b?c").path, "/a");
  for (const char* target : {"a/b", "*", "host:443", "http:///a", "ftp://host/a"}) {
    EXPECT_EQ(status_of([target] { split_target(target); }), 400) << target;
  }
}

TEST(Url, AnEncodedSlashStaysInItsSegment) {
  EXPECT_EQ(path_segments("/a/b%2Fc/"), (std::vector<std::string>{"a", "b/c", ""}));
  EXPECT_EQ(path_segments("/"), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace clew::server
