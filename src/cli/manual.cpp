// The manual page, in the language of man(7).
#include "cli/help_pages.hpp"

namespace clew::cli {
namespace {

// A text in which nothing means anything to roff.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else if (c == '`') {
      result += "\\(ga";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string flag_heading(const Flag& flag) {
  std::string heading = "\\fB\\-\\-" + escaped(flag.name) + "\\fR";
  if (flag.form == Flag::Form::toggle) return heading;
  return heading + " \\fI" + escaped(flag.value_name.empty() ? "TEXT" : flag.value_name) + "\\fR";
}

std::string flag_text(const Flag& flag) {
  std::string text = escaped(flag.help) + ".";
  if (!flag.choices.empty()) {
    text += " One of";
    for (const std::string& choice : flag.choices) text += " " + escaped(choice);
    text += ".";
  }
  if (!flag.default_value.empty()) text += " Default: " + escaped(flag.default_value) + ".";
  return text;
}

std::string positional_text(const Positional& positional) {
  const std::string name = "\\fI" + escaped(positional.name) + "\\fR";
  switch (positional.form) {
    case Positional::Form::required: return name;
    case Positional::Form::optional: return "[" + name + "]";
    case Positional::Form::repeated: return "[" + name + "...]";
  }
  return name;
}

void add_command(const Command& command, const std::string& title, std::string& page) {
  if (command.is_hidden) return;
  if (!command.commands.empty()) {
    for (const Command& part : command.commands) add_command(part, title + " " + part.name, page);
    return;
  }
  page += ".SS \"clew " + escaped(title) + "\"\n" + escaped(command.help) + ".\n.PP\n";
  page += "\\fBclew " + escaped(title) + "\\fR";
  for (const Positional& positional : command.positionals)
    page += " " + positional_text(positional);
  if (!command.flags.empty()) page += " [\\fIoptions\\fR]";
  page += "\n";
  for (const Positional& positional : command.positionals) {
    page += ".TP\n\\fI" + escaped(positional.name) + "\\fR\n" + escaped(positional.help) + ".\n";
  }
  for (const Flag& flag : command.flags) {
    page += ".TP\n" + flag_heading(flag) + "\n" + flag_text(flag) + "\n";
  }
}

}  // namespace

std::string manual_page(const std::vector<Command>& commands, const std::string& version) {
  std::string page = ".TH CLEW 1 \"\" \"clew " + escaped(version) + "\" \"User Commands\"\n";
  page += ".SH NAME\nclew \\- serve durable agent graphs, and look into what they left\n";
  page += ".SH SYNOPSIS\n\\fBclew\\fR \\fIcommand\\fR [\\fIarguments\\fR]\n";
  page +=
      ".SH DESCRIPTION\nEach option can also be given by a variable of the environment: "
      "\\fBCLEW_DB\\fR is \\fB\\-\\-db\\fR, \\fBCLEW_SKIP_EXISTING\\fR is "
      "\\fB\\-\\-skip\\-existing\\fR.\n";
  page += ".SH COMMANDS\n";
  for (const Command& command : commands) add_command(command, command.name, page);
  page +=
      ".SH ENVIRONMENT\n.TP\n\\fBLANGGRAPH_AES_KEY\\fR\nThe key of encrypted databases.\n"
      ".TP\n\\fBNO_COLOR\\fR\nIf it is set, colour is not used.\n";
  page +=
      ".SH EXIT STATUS\n.TP\n0\nAll went well.\n.TP\n1\nThe command failed, or \\fBclew "
      "verify\\fR found problems.\n.TP\n2\nThe command line makes no sense.\n.TP\n130\nIt was "
      "interrupted, at a point where nothing is lost.\n";
  return page;
}

}  // namespace clew::cli
