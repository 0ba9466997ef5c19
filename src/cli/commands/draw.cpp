// clew draw: how a graph of a library looks.
#include <algorithm>
#include <filesystem>
#include <ostream>

#include <clew/compiled_graph.hpp>
#include <clew/drawing.hpp>
#include <clew/error.hpp>

#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/exported_graphs.hpp"
#include "cli/near.hpp"
#include "server/plugins.hpp"
#include "value/joined.hpp"

namespace clew::cli {
namespace {

namespace fs = std::filesystem;

struct GraphName {
  fs::path library;
  std::string function;  // empty: not said
};

// "FILE" or "FILE:FUNCTION", as in clew.json.
GraphName parse_name(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || fs::exists(text)) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string choose_function(const GraphName& name) {
  const std::vector<std::string> graphs = exported_graphs(name.library);
  if (!name.function.empty()) {
    const bool is_there = std::find(graphs.begin(), graphs.end(), name.function) != graphs.end();
    if (is_there || graphs.empty()) return name.function;
    const std::string near = did_you_mean(name.function, graphs);
    throw Error("'" + name.library.string() + "' has no graph '" + name.function + "'" +
                (near.empty() ? "; it has " + internal::joined(graphs, ", ") : near));
  }
  if (graphs.size() == 1) return graphs.front();
  if (graphs.empty()) {
    throw Error("'" + name.library.string() +
                "' has no graphs: write CLEW_GRAPH(function) after the function that makes one");
  }
  throw Error("'" + name.library.string() + "' has " + std::to_string(graphs.size()) +
              " graphs; say which, as " + name.library.string() + ":" + graphs.front() + ": " +
              internal::joined(graphs, ", "));
}

int draw(const Arguments& arguments, Console& console) {
  const GraphName name = parse_name(arguments.text("graph"));
  const auto plugin = server::Plugin::open(name.library);
  const CompiledGraph graph = plugin->factory(choose_function(name))({});
  const DrawableGraph drawing = graph.get_graph(Xray(arguments.is_on("xray")));
  if (arguments.is_on("json")) {
    print_json(console, drawing.to_json());
  } else if (arguments.is_on("mermaid")) {
    console.out << drawing.draw_mermaid();
  } else {
    console.out << drawing.draw_ascii();
  }
  return 0;
}

}  // namespace

Command draw_command() {
  Command command;
  command.name = "draw";
  command.help = "Draw a graph of a library";
  command.positionals = {
      {"graph", "The library, and, if it has several graphs, which: LIBRARY.so:FUNCTION"}};
  command.flags = {
      {"mermaid", "Print Mermaid text, for Markdown", Flag::Form::toggle},
      {"ascii", "Print a picture for a terminal, as it is without any of these",
       Flag::Form::toggle},
      {"json", "Print JSON", Flag::Form::toggle},
      {"xray", "Also draw what is in subgraphs", Flag::Form::toggle},
  };
  command.run = draw;
  return command;
}

}  // namespace clew::cli
