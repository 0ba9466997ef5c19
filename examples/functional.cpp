// A workflow as plain functions: tasks that finished are not run again.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

int main() {
  // [snippet functional]
  auto write_essay = task("write_essay", [](const std::string& topic) {
    std::cout << "writing\n";  // once, although the workflow runs twice
    return "An essay about " + topic;
  });

  auto workflow = entrypoint("workflow",
                             [write_essay](const std::string& topic, Runtime& runtime) {
                               Value essay = write_essay(runtime, topic).result();
                               Value approved = runtime.interrupt({{"essay", essay}});
                               return Value{{"essay", essay}, {"approved", approved}};
                             },
                             {.checkpointer = std::make_shared<InMemorySaver>()});

  Config thread{.thread_id = "1"};
  workflow.invoke("cats", thread);
  std::cout << workflow.invoke(Command{.resume = "yes"}, thread) << '\n';
  // {"essay":"An essay about cats","approved":"yes"}
  // [/snippet functional]

  // [snippet parallel]
  auto square = task("square", [](int n) { return n * n; });
  auto sum = entrypoint("sum", [square](const std::vector<int>& numbers, Runtime& runtime) {
    std::vector<Future> squares;
    for (int n : numbers) squares.push_back(square(runtime, n));  // all start at once
    int total = 0;
    for (const Future& future : squares) total += future.result().get<int>();
    return total;
  });
  std::cout << sum.invoke({1, 2, 3}) << '\n';  // 14
  // [/snippet parallel]

  // [snippet previous]
  auto counter = entrypoint("counter",
                            [](int step, Runtime& runtime) {
                              const Value& saved = runtime.previous();  // null the first time
                              int before = saved.is_null() ? 0 : saved.get<int>();
                              return Final{.value = before, .save = before + step};
                            },
                            {.checkpointer = std::make_shared<InMemorySaver>()});
  std::cout << counter.invoke(5, thread) << '\n';  // 0: what it had before
  std::cout << counter.invoke(5, thread) << '\n';  // 5
  // [/snippet previous]
}
