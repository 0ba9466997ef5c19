// Libraries that load, and why others do not.
#include "server/plugins.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "temporary_folder.hpp"
#include "unit/error_text.hpp"

namespace clew::server {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = CLEW_PLUGIN_DIR;

std::string why_not(const fs::path& file) {
  return error_text<PluginError>([&] { Plugin::open(file); });
}

TEST(Plugin, MakesItsGraphs) {
  const auto plugin = Plugin::open(kFolder / "libtest_plugin_one.so");
  const CompiledGraph graph = plugin->factory("which")({});
  EXPECT_EQ(graph.invoke({{"name", ""}})["version"], "one");
}

TEST(Plugin, AFactoryThatCompilesGetsTheOptions) {
  const auto plugin = Plugin::open(kFolder / "libtest_plugin_one.so");
  const CompiledGraph graph = plugin->factory("named")({.name = "agent"});
  EXPECT_EQ(graph.invoke({{"name", ""}})["name"], "agent");
}

TEST(Plugin, IsOneEngineWithTheProgram) {
  const auto plugin = Plugin::open(kFolder / "libtest_plugin_one.so");
  const auto saver = std::make_shared<InMemorySaver>();
  plugin->factory("which")({.checkpointer = saver}).invoke({{"name", ""}}, {.thread_id = "1"});
  EXPECT_TRUE(saver->get_tuple({"1", "", ""}).has_value());
}

TEST(Plugin, StaysLoadedWhileAGraphOfItLives) {
  auto plugin = Plugin::open(kFolder / "libtest_plugin_one.so", {.is_reloadable = true});
  std::optional<CompiledGraph> graph = plugin->factory("which")({});
  const std::weak_ptr<const Plugin> watched = plugin;
  plugin.reset();
  EXPECT_EQ(graph->invoke({{"name", ""}})["version"], "one");
  EXPECT_FALSE(watched.expired());
  graph.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(Plugin, TwoVersionsOfAFileLiveSideBySide) {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "libagent.so";
  const PluginOptions reloadable{.is_reloadable = true};
  fs::copy_file(kFolder / "libtest_plugin_one.so", file);
  const CompiledGraph older = Plugin::open(file, reloadable)->factory("which")({});
  fs::copy_file(kFolder / "libtest_plugin_two.so", file, fs::copy_options::overwrite_existing);
  const CompiledGraph newer = Plugin::open(file, reloadable)->factory("which")({});
  EXPECT_EQ(older.invoke({{"name", ""}})["version"], "one");
  EXPECT_EQ(newer.invoke({{"name", ""}})["version"], "two");
  // Nothing is left beside the file.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()), 1);
}

TEST(Plugin, AMissingFileIsNamed) {
  EXPECT_EQ(why_not("nowhere/libagent.so"),
            "there is no file 'nowhere/libagent.so'; build the library first");
}

TEST(Plugin, AFileThatIsNoLibraryIsRefused) {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "libagent.so";
  std::ofstream(file) << "not a library";
  EXPECT_TRUE(why_not(file).starts_with("cannot load '" + file.string() + "': ")) << why_not(file);
}

TEST(Plugin, ALibraryWithoutTheNumberIsRefused) {
  const std::string file = (kFolder / "libtest_plugin_no_abi.so").string();
  EXPECT_EQ(why_not(file), "'" + file +
                               "' is no library of graphs: it exports no clew_plugin_abi; include "
                               "<clew/plugin.hpp> and build it with clew_add_graph_plugin");
}

TEST(Plugin, ALibraryOfAnotherAbiIsRefused) {
  const std::string file = (kFolder / "libtest_plugin_old_abi.so").string();
  EXPECT_EQ(why_not(file),
            "'" + file +
                "' was built for plugin ABI 0 and this program has 1; build it again "
                "with this version of Clew");
}

TEST(Plugin, AMissingGraphIsNamed) {
  const std::string file = (kFolder / "libtest_plugin_one.so").string();
  const auto plugin = Plugin::open(file);
  EXPECT_EQ(error_text<PluginError>([&] { plugin->factory("agent"); }),
            "'" + file +
                "' has no graph 'agent'; write CLEW_GRAPH(agent) after the function that "
                "makes it");
}

TEST(Plugin, AFactoryThatThrowsIsAnErrorWithItsReason) {
  const std::string file = (kFolder / "libtest_plugin_one.so").string();
  const auto plugin = Plugin::open(file);
  EXPECT_EQ(error_text<PluginError>([&] { plugin->factory("throws")({}); }),
            "throws() of '" + file + "' failed: MODEL_KEY is not set");
}

}  // namespace
}  // namespace clew::server
