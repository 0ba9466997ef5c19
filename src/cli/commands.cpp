#include "cli/commands.hpp"

namespace clew::cli {

std::vector<Command> all_commands(const ServeFunction& serve) {
  return {dev_command(serve), serve_command(serve), new_command(),   threads_command(),
          history_command(),  state_command(),      diff_command(),  trace_command(),
          channel_command(),  stats_command(),      store_command(), version_command()};
}

}  // namespace clew::cli
