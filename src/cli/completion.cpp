// Completion for shells. Both scripts are made of the same facts, and ask the program for
// the ids of threads only when one is wanted.
#include <algorithm>

#include "cli/help_pages.hpp"
#include "value/joined.hpp"

namespace clew::cli {
namespace {

// A command that can be run, by all its names: "store ls".
struct Leaf {
  std::string title;
  const Command* command;
};

void add_leaves(const Command& command, const std::string& title, std::vector<Leaf>& leaves) {
  if (command.is_hidden) return;
  if (command.commands.empty()) return leaves.push_back({title, &command});
  for (const Command& part : command.commands) {
    add_leaves(part, title + " " + part.name, leaves);
  }
}

std::vector<Leaf> leaves_of(const std::vector<Command>& commands) {
  std::vector<Leaf> leaves;
  for (const Command& command : commands) add_leaves(command, command.name, leaves);
  return leaves;
}

// Where the next word of a command may be one of several names: "" and "store".
struct Branch {
  std::string title;
  std::vector<const Command*> commands;
};

void add_branches(const std::vector<Command>& commands, const std::string& title,
                  std::vector<Branch>& branches) {
  Branch branch{title, {}};
  for (const Command& command : commands) {
    if (!command.is_hidden) branch.commands.push_back(&command);
  }
  branches.push_back(std::move(branch));
  for (const Command& command : commands) {
    if (command.commands.empty() || command.is_hidden) continue;
    add_branches(command.commands, title.empty() ? command.name : title + " " + command.name,
                 branches);
  }
}

// What stands after a flag or as a positional.
enum class Word { other, file, thread, choice, nothing };

Word word_of(const Flag& flag) {
  if (flag.form == Flag::Form::toggle) return Word::nothing;
  if (!flag.choices.empty()) return Word::choice;
  if (flag.value_name == "THREAD") return Word::thread;
  constexpr std::string_view kFiles[] = {"FILE", "FOLDER", "PATH", "DATABASE"};
  const bool is_file =
      std::find(std::begin(kFiles), std::end(kFiles), flag.value_name) != std::end(kFiles);
  return is_file ? Word::file : Word::other;
}

Word word_of(const Positional& positional) {
  if (positional.name == "thread") return Word::thread;
  constexpr std::string_view kFiles[] = {"database", "path", "graph", "file", "folder"};
  const bool is_file =
      std::find(std::begin(kFiles), std::end(kFiles), positional.name) != std::end(kFiles);
  return is_file ? Word::file : Word::other;
}

std::string flag_names(const Command& command) {
  std::vector<std::string> names;
  for (const Flag& flag : command.flags) names.push_back("--" + flag.name);
  names.emplace_back("--help");
  return internal::joined(names, " ");
}

std::string bash_value(const Flag& flag) {
  switch (word_of(flag)) {
    case Word::choice: return "_clew_words '" + internal::joined(flag.choices, " ") + "'";
    case Word::file: return "_clew_files";
    case Word::thread: return "__clew_threads";
    default: return "COMPREPLY=()";
  }
}

std::string bash_positional(const Command& command) {
  if (command.positionals.empty()) return "COMPREPLY=()";
  switch (word_of(command.positionals.front())) {
    case Word::thread: return "__clew_threads";
    case Word::file: return "_clew_files";
    default:
      return command.positionals.front().choices.empty()
                 ? "COMPREPLY=()"
                 : "_clew_words '" + internal::joined(command.positionals.front().choices, " ") +
                       "'";
  }
}

constexpr std::string_view kBashStart = R"BASH(# bash completion for clew

_clew_words() { COMPREPLY=($(compgen -W "$1" -- "$word")); }

_clew_files() {
  compopt -o filenames 2> /dev/null
  COMPREPLY=($(compgen -f -- "$word"))
}

# Ids of threads of the database that the line names, or CLEW_DB. They are anybody's
# texts: compgen would run the commands in them.
__clew_threads() {
  local i id ids database=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == --db ]] || continue
    database=(--db "${COMP_WORDS[i + 1]}")
    # A colon begins a word of its own.
    [[ ${COMP_WORDS[i + 2]-} == : ]] && database=(--db "${COMP_WORDS[i + 1]}:${COMP_WORDS[i + 3]}")
  done
  mapfile -t ids < <(clew complete-threads "${database[@]}" 2> /dev/null)
  COMPREPLY=()
  for id in "${ids[@]}"; do
    [[ $id == "$word"* ]] && COMPREPLY+=("$(printf %q "$id")")
  done
}

_clew() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
)BASH";

constexpr std::string_view kBashEnd = R"(  esac
}

complete -F _clew clew
)";

}  // namespace

std::string bash_completion(const std::vector<Command>& commands) {
  std::vector<Branch> branches;
  add_branches(commands, "", branches);
  std::string script(kBashStart);
  for (const Branch& branch : branches) {
    for (const Command* command : branch.commands) {
      const std::string title = (branch.title.empty() ? "" : branch.title + " ") + command->name;
      const std::string before = branch.title.empty() ? " " : branch.title + " ";
      script += "      '" + before + command->name + "') command='" + title + "' ;;\n";
    }
  }
  script += "    esac\n  done\n  case \"$command $before\" in\n";
  const std::vector<Leaf> leaves = leaves_of(commands);
  for (const Leaf& leaf : leaves) {
    for (const Flag& flag : leaf.command->flags) {
      if (word_of(flag) == Word::nothing) continue;
      script +=
          "    '" + leaf.title + " --" + flag.name + "') " + bash_value(flag) + "; return ;;\n";
    }
  }
  script += "  esac\n  case $command in\n";
  for (const Branch& branch : branches) {
    std::vector<std::string> names;
    for (const Command* command : branch.commands) names.push_back(command->name);
    script += "    '" + branch.title + "') _clew_words '" + internal::joined(names, " ") +
              " --help' ;;\n";
  }
  for (const Leaf& leaf : leaves) {
    script += "    '" + leaf.title + "') if [[ $word == -* ]]; then _clew_words '" +
              flag_names(*leaf.command) + "'; else " + bash_positional(*leaf.command) + "; fi ;;\n";
  }
  return script + std::string(kBashEnd);
}

namespace {

// A text inside '...' in a specification of _arguments, where : and brackets mean something.
std::string zsh_quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
      continue;
    }
    if (c == ':' || c == '[' || c == ']' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

std::string zsh_action(Word word, const std::vector<std::string>& choices) {
  if (!choices.empty()) return "(" + internal::joined(choices, " ") + ")";
  switch (word) {
    case Word::file: return "_files";
    case Word::thread: return "__clew_threads";
    default: return "";
  }
}

std::string zsh_flag(const Flag& flag) {
  const std::string start = (flag.form == Flag::Form::texts ? "'*--" : "'--") + flag.name;
  const std::string help = "[" + zsh_quoted(flag.help) + "]";
  if (flag.form == Flag::Form::toggle) return start + help + "'";
  const std::string name = flag.value_name.empty() ? "TEXT" : flag.value_name;
  return start + help + ":" + name + ":" + zsh_action(word_of(flag), flag.choices) + "'";
}

std::string zsh_positional(const Positional& positional) {
  const std::string start = positional.form == Positional::Form::repeated   ? "'*"
                            : positional.form == Positional::Form::optional ? "':"
                                                                            : "'";
  return start + ":" + zsh_quoted(positional.name) + ":" +
         zsh_action(word_of(positional), positional.choices) + "'";
}

std::string function_name(std::string title) {
  for (char& c : title) {
    if (c == ' ' || c == '-') c = '_';
  }
  return title.empty() ? "_clew" : "_clew_" + title;
}

std::string zsh_branch(const Branch& branch) {
  std::string text = function_name(branch.title) + "() {\n  local -a commands=(\n";
  for (const Command* command : branch.commands) {
    text += "    '" + command->name + ":" + zsh_quoted(command->help) + "'\n";
  }
  text +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
      "  shift words\n  ((CURRENT--))\n  case $words[1] in\n";
  for (const Command* command : branch.commands) {
    const std::string title = (branch.title.empty() ? "" : branch.title + " ") + command->name;
    text += "    " + command->name + ") " + function_name(title) + " ;;\n";
  }
  return text + "  esac\n}\n\n";
}

std::string zsh_leaf(const Leaf& leaf) {
  std::string text = function_name(leaf.title) + "() {\n  _arguments";
  for (const Flag& flag : leaf.command->flags) text += " \\\n    " + zsh_flag(flag);
  text += " \\\n    '--help[Print the help]'";
  for (const Positional& positional : leaf.command->positionals) {
    text += " \\\n    " + zsh_positional(positional);
  }
  return text + "\n}\n\n";
}

constexpr std::string_view kZshThreads = R"ZSH(__clew_threads() {
  local -a database ids
  local place=$words[(i)--db]
  ((place < $#words)) && database=(--db ${words[place+1]})
  ids=(${(f)"$(clew complete-threads $database 2> /dev/null)"})
  compadd -a ids
}

)ZSH";

}  // namespace

std::string zsh_completion(const std::vector<Command>& commands) {
  std::string script = "#compdef clew\n# zsh completion for clew\n\n" + std::string(kZshThreads);
  for (const Leaf& leaf : leaves_of(commands)) script += zsh_leaf(leaf);
  std::vector<Branch> branches;
  add_branches(commands, "", branches);
  for (const Branch& branch : branches) script += zsh_branch(branch);
  return script +
         "if [[ $funcstack[1] == _clew ]]; then\n  _clew\nelse\n  compdef _clew clew\nfi\n";
}

}  // namespace clew::cli
