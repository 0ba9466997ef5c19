// clew completion, clew man: what is generated from the commands themselves.
#include <ostream>

#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/help_pages.hpp"

namespace clew::cli {

Command completion_command(std::vector<Command> commands) {
  Command command;
  command.name = "completion";
  command.help = "Print completion for a shell: source <(clew completion bash)";
  command.positionals = {{"shell", "Which shell", Positional::Form::required, {"bash", "zsh"}}};
  commands.push_back(command);
  command.run = [commands = std::move(commands)](const Arguments& arguments, Console& console) {
    const bool is_bash = arguments.text("shell") == "bash";
    console.out << (is_bash ? bash_completion(commands) : zsh_completion(commands));
    return 0;
  };
  return command;
}

Command man_command(std::vector<Command> commands) {
  Command command;
  command.name = "man";
  command.help = "Print the manual page, for man -l -";
  commands.push_back(command);
  command.run = [commands = std::move(commands)](const Arguments&, Console& console) {
    console.out << manual_page(commands, CLEW_VERSION);
    return 0;
  };
  return command;
}

// For completion, which is better without threads than with an error.
Command complete_threads_command() {
  Command command;
  command.name = "complete-threads";
  command.help = "Print the ids of threads";
  command.is_hidden = true;
  return database_command(std::move(command),
                          [](Database& database, const Arguments&, Console& console) {
                            for (const std::string& id : database.threads({})) {
                              if (one_line(id) == id) console.out << id << '\n';
                            }
                            return 0;
                          });
}

}  // namespace clew::cli
