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
}
