// The text of the E that a call throws, or what happened instead.
//
//   EXPECT_EQ(error_text<GraphError>([&] { graph.compile(); }), "...");
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace clew {

template <class E, class Call>
std::string error_text(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

}  // namespace clew
