// A node that fails is tried again, has a time limit, and someone to clean up after it.
#include <chrono>
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;
using namespace std::chrono_literals;

struct State {
  std::string page;
};
CLEW_STATE(State, page)

int main() {
  // [snippet retry]
  const auto fetch = [](const State&, Runtime& runtime) {
    const int attempt = runtime.execution_info().node_attempt;
    std::cout << "attempt " << attempt << '\n';
    if (attempt < 3) throw std::runtime_error("the network is down");
    return Update{{"page", "<html>"}};
  };
  RetryPolicy policy{.max_attempts = 3, .initial_interval = 1ms, .jitter = false};
  auto patient = StateGraph<State>()
                     .add_node("fetch", fetch, {.retry_policy = {policy}})
                     .add_edge(START, "fetch")
                     .compile();
  std::cout << patient.invoke({{"page", ""}}) << '\n';  // {"page":"<html>"}
  // [/snippet retry]

  // [snippet handler]
  const auto use_cache = [](const Value&, Runtime& runtime) {
    std::cout << runtime.failure().node << ": " << runtime.failure().text << '\n';
    return Update{{"page", "an old copy"}};
  };
  auto careful = StateGraph<State>()
                     .add_node("fetch", fetch, {.error_handler = use_cache})
                     .add_edge(START, "fetch")
                     .compile();
  std::cout << careful.invoke({{"page", ""}}) << '\n';
  // fetch: RuntimeError('the network is down')
  // {"page":"an old copy"}
  // [/snippet handler]

  // [snippet timeout]
  const auto wait = [](const State&, Runtime& runtime) {
    while (!runtime.stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
  };
  auto strict = StateGraph<State>()
                    .add_node("wait", wait, {.timeout = TimeoutPolicy{.run_timeout = 10ms}})
                    .add_edge(START, "wait")
                    .compile();
  try {
    strict.invoke({{"page", ""}});
  } catch (const NodeTimeout& error) {
    std::cout << error.what() << '\n';  // node 'wait' took longer than 10 ms
  }
  // [/snippet timeout]
}
