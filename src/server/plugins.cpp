#include "server/plugins.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <optional>

#include <clew/plugin.hpp>

namespace clew::server {
namespace {

namespace fs = std::filesystem;

using AbiFunction = std::uint64_t (*)();
using GraphFunction = void (*)(const CompileOptions* options, std::optional<CompiledGraph>* graph);

std::string quoted(const fs::path& file) { return "'" + file.string() + "'"; }

std::string load_error() {
  const char* reason = dlerror();
  return reason ? reason : "unknown reason";
}

// A file that is opened twice must have two names: the loader takes a name that
// it knows, and a file that it knows by any name, for what is loaded already.
class TemporaryCopy {
 public:
  // Beside the file, where the libraries that it needs are looked for; else among temporary files.
  explicit TemporaryCopy(const fs::path& file) {
    static std::atomic<int> count{0};
    const std::string name = "." + file.filename().string() + "." + std::to_string(getpid()) + "." +
                             std::to_string(++count);
    std::error_code error;
    path_ = file.parent_path() / name;
    if (fs::copy_file(file, path_, fs::copy_options::overwrite_existing, error)) return;
    path_ = fs::temp_directory_path() / name;
    fs::copy_file(file, path_, fs::copy_options::overwrite_existing, error);
    if (error) {
      throw PluginError("cannot copy " + quoted(file) + " to load it: " + error.message());
    }
  }
  // What is loaded does not need the name any more.
  ~TemporaryCopy() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryCopy(const TemporaryCopy&) = delete;
  TemporaryCopy& operator=(const TemporaryCopy&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// All symbols now, so that what is missing is told here and not in the middle of
// a run; and for itself, so that two libraries may have types of the same name.
void* load(const fs::path& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); }

// The graph, and what its code is in, which goes last.
struct LoadedGraph {
  std::shared_ptr<const Plugin> plugin;
  std::shared_ptr<const pregel::Graph> graph;
};

}  // namespace

Plugin::Plugin(fs::path file, void* handle) : file_(std::move(file)), handle_(handle) {}

Plugin::~Plugin() { dlclose(handle_); }

std::shared_ptr<const Plugin> Plugin::open(const fs::path& file, const PluginOptions& options) {
  if (!fs::exists(file)) {
    throw PluginError("there is no file " + quoted(file) + "; build the library first");
  }
  // A path without a slash would be looked for among the system's libraries.
  const fs::path full = fs::absolute(file);
  void* handle = nullptr;
  if (options.is_reloadable) {
    const TemporaryCopy copy(full);
    handle = load(copy.path());
  } else {
    handle = load(full);
  }
  if (!handle) throw PluginError("cannot load " + quoted(file) + ": " + load_error());
  const std::shared_ptr<const Plugin> plugin(new Plugin(file, handle));
  plugin->check_abi();
  return plugin;
}

void Plugin::check_abi() const {
  const auto abi = reinterpret_cast<AbiFunction>(dlsym(handle_, "clew_plugin_abi"));
  if (!abi) {
    throw PluginError(quoted(file_) +
                      " is no library of graphs: it exports no clew_plugin_abi; include "
                      "<clew/plugin.hpp> and build it with clew_add_graph_plugin");
  }
  const std::uint64_t theirs = abi();
  const std::uint64_t ours = plugin_abi();
  if (theirs == ours) return;
  const auto number = [](std::uint64_t full) { return std::to_string(full >> 32); };
  if (theirs >> 32 != ours >> 32) {
    throw PluginError(quoted(file_) + " was built for plugin ABI " + number(theirs) +
                      " and this program has " + number(ours) +
                      "; build it again with this version of Clew");
  }
  throw PluginError(quoted(file_) +
                    " was built against other headers or by another compiler than this program; "
                    "build it again with this version of Clew");
}

GraphFactory Plugin::factory(const std::string& function) const {
  void* symbol = dlsym(handle_, ("clew_graph_" + function).c_str());
  if (!symbol) {
    throw PluginError(quoted(file_) + " has no graph '" + function + "'; write CLEW_GRAPH(" +
                      function + ") after the function that makes it");
  }
  return GraphFactory([self = shared_from_this(), function, symbol](const CompileOptions& options) {
    return self->make(function, symbol, options);
  });
}

CompiledGraph Plugin::make(const std::string& function, void* symbol,
                           const CompileOptions& options) const {
  std::optional<CompiledGraph> graph;
  try {
    reinterpret_cast<GraphFunction>(symbol)(&options, &graph);
  } catch (const std::exception& error) {
    throw PluginError(function + "() of " + quoted(file_) + " failed: " + error.what());
  }
  const auto loaded =
      std::make_shared<LoadedGraph>(LoadedGraph{shared_from_this(), graph->shared()});
  return CompiledGraph(std::shared_ptr<const pregel::Graph>(loaded, loaded->graph.get()));
}

}  // namespace clew::server
