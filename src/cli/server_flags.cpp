#include "cli/server_flags.hpp"

#include <limits>
#include <ostream>

#include <clew/error.hpp>

#include "value/joined.hpp"

namespace clew::cli {
namespace {

namespace fs = std::filesystem;

// The file that was named, or that of this folder.
fs::path find_config(const std::string& named) {
  if (!named.empty()) {
    if (!fs::exists(named)) throw Error("there is no file '" + named + "'");
    return named;
  }
  for (const char* name : {"clew.json", "langgraph.json"}) {
    if (fs::exists(name)) return name;
  }
  throw Error(
      "there is no clew.json here; name one with --config, or make a project with "
      "`clew new NAME`");
}

void print_ready(std::ostream& out, const ServerInfo& info) {
  for (const std::string& warning : info.warnings) out << "warning: " << warning << '\n';
  for (const std::string& problem : info.problems) out << "not served: " << problem << '\n';
  out << "graphs:  " << (info.graphs.empty() ? "none" : internal::joined(info.graphs, ", ")) << '\n'
      << "storage: " << info.storage << '\n'
      << "auth:    " << info.auth << '\n'
      << "ready at " << info.url << std::endl;
}

}  // namespace

std::vector<Flag> server_flags(int default_port) {
  using Form = Flag::Form;
  return {
      {"config", "The configuration; clew.json or langgraph.json of this folder unless given",
       Form::text, "", "FILE"},
      {"host", "The address to listen at; 0.0.0.0 for every one of this machine", Form::text,
       "127.0.0.1", "ADDRESS"},
      {"port", "The port to listen at", Form::number, std::to_string(default_port), "PORT"},
      {"data", "The folder that everything is kept in", Form::text, ".clew", "FOLDER"},
      {"workers", "Runs that execute at once; 0 is what the configuration says", Form::number, "0",
       "COUNT"},
  };
}

ServerOptions server_options(const Arguments& arguments, Console& console) {
  ServerOptions options;
  options.config = find_config(arguments.text("config"));
  options.host = arguments.text("host");
  const std::int64_t port = arguments.number("port");
  if (port > std::numeric_limits<std::uint16_t>::max()) {
    throw Error("--port " + std::to_string(port) + " is no port; they end at 65535");
  }
  options.port = static_cast<std::uint16_t>(port);
  options.data = arguments.text("data");
  if (const std::int64_t workers = arguments.number("workers"); workers > 0) {
    options.workers = static_cast<std::size_t>(workers);
  }
  options.on_ready = [&out = console.out](const ServerInfo& info) { print_ready(out, info); };
  return options;
}

}  // namespace clew::cli
