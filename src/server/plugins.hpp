// Shared libraries with graphs: see <clew/plugin.hpp> for what they export.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <clew/errors.hpp>
#include <clew/graph_factory.hpp>

namespace clew::server {

// A library or a graph in it that cannot be used; what() says why and names the file.
class PluginError : public Error {
 public:
  using Error::Error;
};

struct PluginOptions {
  // Load a copy of the file, so that the file itself may be written anew while
  // its code runs, and may be opened again then.
  bool is_reloadable = false;
};

// A loaded library. It stays loaded as long as this object and all graphs that
// it made live. May be used from any thread.
class Plugin : public std::enable_shared_from_this<Plugin> {
 public:
  // Throws PluginError: no such file, not a library, made for another Clew.
  static std::shared_ptr<const Plugin> open(const std::filesystem::path& file,
                                            const PluginOptions& options = {});
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // What makes the graph exported as CLEW_GRAPH(function). Throws PluginError
  // if there is none, and, when called, if the function throws.
  GraphFactory factory(const std::string& function) const;

 private:
  Plugin(std::filesystem::path file, void* handle);
  void check_abi() const;
  CompiledGraph make(const std::string& function, void* symbol,
                     const CompileOptions& options) const;

  const std::filesystem::path file_;
  void* const handle_;
};

}  // namespace clew::server
