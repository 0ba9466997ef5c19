// clew completion, clew man: what is generated from the commands themselves.
#include <memory>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/help_pages.hpp"

namespace clew::cli {

void add_help_commands(std::vector<Command>& commands) {
  Command completion;
  completion.name = "completion";
  completion.help = "Print completion for a shell: source <(clew completion bash)";
  completion.positionals = {{"shell", "Which shell", Positional::Form::required, {"bash", "zsh"}}};
  Command man;
  man.name = "man";
  man.help = "Print the manual page, for man -l -";
  commands.push_back(completion);
  commands.push_back(man);

  const auto all = std::make_shared<const std::vector<Command>>(commands);
  commands[commands.size() - 2].run = [all](const Arguments& arguments, Console& console) {
    const bool is_bash = arguments.text("shell") == "bash";
    console.out << (is_bash ? bash_completion(*all) : zsh_completion(*all));
    return 0;
  };
  commands.back().run = [all](const Arguments&, Console& console) {
    console.out << manual_page(*all, CLEW_VERSION);
    return 0;
  };
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
