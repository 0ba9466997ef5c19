// A call of a functional task: a task of the same step as its caller.
#pragma once

#include "pregel/task_run.hpp"

namespace clew::pregel {

class Call {
 public:
  Call(std::shared_ptr<Loop> run_loop, std::shared_ptr<TaskRun> call_task)
      : loop(std::move(run_loop)), task(std::move(call_task)) {}

  std::shared_ptr<Loop> loop;
  std::shared_ptr<TaskRun> task;
};

}  // namespace clew::pregel
