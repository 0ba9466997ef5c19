// clew new: a project with one graph, to start from.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <ostream>

#include <clew/error.hpp>

#include "cli/commands.hpp"
#include "cli/template_files.hpp"

namespace clew::cli {
namespace {

namespace fs = std::filesystem;

// The name is also that of a CMake target and of a graph.
void check_name(const std::string& name) {
  const auto is_allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  bool is_good = !name.empty() && std::isalpha(static_cast<unsigned char>(name.front()));
  for (const char c : name) is_good = is_good && is_allowed(c);
  if (!is_good) {
    throw Error("'" + name +
                "' cannot be the name of a project: take a letter, then letters, digits, - and _");
  }
}

std::string filled_in(std::string text, const std::string& name) {
  const std::string placeholder = "{{name}}";
  for (std::size_t at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + name.size())) {
    text.replace(at, placeholder.size(), name);
  }
  return text;
}

void write_file(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw Error("cannot write '" + file.string() + "'");
}

int make_project(const std::string& name, Console& console) {
  check_name(name);
  if (fs::exists(name)) throw Error("'" + name + "' is there already");
  fs::create_directory(name);
  for (const TemplateFile& file : template_files()) {
    write_file(fs::path(name) / file.name, filled_in(file.text, name));
  }
  console.out << "A project with one graph is in " << name << "/. Build it and serve it:\n\n"
              << "  cd " << name << " && cmake --workflow --preset release\n"
              << "  clew dev\n";
  return 0;
}

}  // namespace

Command new_command() {
  Command command;
  command.name = "new";
  command.help = "Make a project with one graph";
  command.positionals = {{"name", "The name of the project, its folder and its graph"}};
  command.run = [](const Arguments& arguments, Console& console) {
    return make_project(arguments.text("name"), console);
  };
  return command;
}

}  // namespace clew::cli
