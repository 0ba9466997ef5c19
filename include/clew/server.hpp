// Serves graphs over HTTP: LangGraph's Agent Server API, with everything that
// persists in one SQLite file.
//
//   int main() {
//     clew::serve({{"agent", make_agent}}, {.port = 2024, .data = "data"});
//   }
//
// The server supplies checkpointer, store and cache, so graphs are given as what
// makes them (graph_factory.hpp). `clew dev` and `clew serve` are this function
// with graphs from libraries; a program that links it may do both, if CMake's
// clew_load_graph_plugins(target) prepares it to load libraries.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <clew/graph_factory.hpp>

namespace clew {

// Where a server listens and what it serves, once it does.
struct ServerInfo {
  std::string url;                    // "http://127.0.0.1:2024"
  std::vector<std::string> graphs;    // by name
  std::vector<std::string> problems;  // graphs that could not be loaded, and why
  std::vector<std::string> warnings;  // what was not understood of the configuration
  std::string storage;                // the file that everything is kept in
  std::string auth;                   // who may call: "open to everybody on this machine"
};

struct ServerOptions {
  // clew.json or langgraph.json, with graphs and settings. Empty: none.
  std::filesystem::path config = {};

  // The address to listen at; "0.0.0.0" is every one of the machine.
  std::string host = "127.0.0.1";
  std::uint16_t port = 2024;
  // If the port is taken: the next free one, rather than an error.
  bool tries_next_port = false;

  // The folder that everything is kept in. It is made if it is not there.
  std::filesystem::path data = ".clew";

  // Load a library anew when its file changes.
  bool reloads = false;

  // Runs that execute at once. Nothing: "queue.workers" of the configuration, or
  // as many as suits the machine.
  std::optional<std::size_t> workers = {};

  // How long a server that was told to stop waits for runs to reach a checkpoint.
  // The next one takes up those that did not.
  std::chrono::milliseconds shutdown_timeout = std::chrono::seconds(10);

  // Called once, when the first request would be answered.
  std::function<void(const ServerInfo&)> on_ready = {};

  // Ends the server, as SIGTERM and SIGINT do.
  std::stop_token stop = {};
};

// Serves until it is told to stop. What a node still does then that does not look at
// its stop token goes on, and keeps the folder, until the program ends. Throws Error if it cannot begin: the port is
// taken, the configuration is wrong, the data cannot be opened. A graph whose
// library cannot be loaded is reported, and the others serve.
void serve(const std::map<std::string, GraphFactory>& graphs, const ServerOptions& options = {});

}  // namespace clew
