// Graphs by name: linked in, loaded, replaced while they are used.
#include "server/graph_registry.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "temporary_folder.hpp"

namespace clew::server {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = CLEW_PLUGIN_DIR;

struct Reply {
  std::string reply;
};
CLEW_STATE(Reply, reply)

struct Voice {
  std::string tone = "plain";
};
CLEW_STATE(Voice, tone)

StateGraph<Reply> replier() {
  return StateGraph<Reply>()
      .context_schema<Voice>()
      .add_node("reply",
                [](const Reply&, Runtime& runtime) {
                  return Update().set("reply", runtime.context<Voice>().tone);
                })
      .add_edge(START, "reply");
}

std::string version(const HostedGraph& hosted) {
  return hosted.graph().invoke({{"name", ""}}).get<std::string>("version");
}

std::string rendered(const std::vector<GraphProblem>& problems) {
  std::string text;
  for (const GraphProblem& problem : problems) text += problem.name + ": " + problem.reason + "\n";
  return text;
}

TEST(GraphRegistry, CompilesWithTheOptionsOfTheServerAndTheGraphsName) {
  const auto saver = std::make_shared<InMemorySaver>();
  GraphRegistry graphs({.checkpointer = saver});
  graphs.add("replier", replier, "says how it speaks");
  const auto hosted = graphs.find("replier");
  ASSERT_TRUE(hosted);
  EXPECT_EQ(hosted->description(), "says how it speaks");
  EXPECT_EQ(hosted->graph().name(), "replier");
  EXPECT_EQ(hosted->schemas()["state_schema"]["title"], "replier_state");
  hosted->graph().invoke({{"reply", ""}}, {.thread_id = "1"});
  EXPECT_TRUE(saver->get_tuple({"1", "", ""}).has_value());
  EXPECT_EQ(graphs.find("other"), nullptr);
}

TEST(GraphRegistry, GraphsThatCannotBeLoadedLeaveTheOthersServing) {
  GraphRegistry graphs(CompileOptions{});
  const fs::path file = kFolder / "libtest_plugin_one.so";
  const std::string problems = rendered(graphs.load({{"good", file, "which", ""},
                                                     {"absent", file, "agent", ""},
                                                     {"broken", file, "unfinished", ""},
                                                     {"gone", "/nowhere/lib.so", "which", ""},
                                                     {"unlinked", {}, "unlinked", ""}}));
  EXPECT_EQ(problems,
            "absent: '" + file.string() +
                "' has no graph 'agent'; write CLEW_GRAPH(agent) after "
                "the function that makes it\n"
                "broken: unfinished() of '" +
                file.string() +
                "' failed: the graph has no entry point; "
                "add an edge from START to the first node\n"
                "gone: there is no file '/nowhere/lib.so'; build the library first\n"
                "unlinked: no graph 'unlinked' is linked into this program; name a library: "
                "\"./libagent.so:make_graph\"\n");
  ASSERT_EQ(graphs.all().size(), 1U);
  EXPECT_EQ(version(*graphs.find("good")), "one");
}

TEST(GraphRegistry, ALinkedInGraphMayHaveAnotherNameInTheConfiguration) {
  GraphRegistry graphs(CompileOptions{});
  graphs.add("replier", replier);
  EXPECT_EQ(rendered(graphs.load({{"agent", {}, "replier", "an agent"}})), "");
  EXPECT_EQ(graphs.find("agent")->description(), "an agent");
}

TEST(GraphRegistry, AChangedLibraryReplacesItsGraphsAndTheOldOnesGoOn) {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "libagent.so";
  fs::copy_file(kFolder / "libtest_plugin_one.so", file);
  GraphRegistry graphs(CompileOptions{});
  graphs.load({{"agent", file, "which", ""}}, {.is_reloadable = true});
  const auto before = graphs.find("agent");
  EXPECT_TRUE(graphs.reload_changed().graphs.empty());

  fs::copy_file(kFolder / "libtest_plugin_two.so", file, fs::copy_options::overwrite_existing);
  fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(2));
  EXPECT_TRUE(graphs.reload_changed().graphs.empty());  // it may still be written
  EXPECT_EQ(graphs.reload_changed().graphs, std::vector<std::string>{"agent"});
  EXPECT_EQ(version(*graphs.find("agent")), "two");
  EXPECT_EQ(version(*before), "one");
}

TEST(GraphRegistry, AChangeThatCannotBeLoadedLeavesTheOldGraphServing) {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "libagent.so";
  fs::copy_file(kFolder / "libtest_plugin_one.so", file);
  GraphRegistry graphs(CompileOptions{});
  graphs.load({{"agent", file, "which", ""}}, {.is_reloadable = true});
  std::ofstream(file) << "broken";
  graphs.reload_changed();
  EXPECT_EQ(graphs.reload_changed().problems.size(), 1U);
  EXPECT_TRUE(graphs.reload_changed().problems.empty());  // told once
  EXPECT_EQ(version(*graphs.find("agent")), "one");
}

TEST(HostedGraph, TheContextOfARunIsWhatTheSchemaKnows) {
  GraphRegistry graphs(CompileOptions{});
  graphs.add("replier", replier);
  const auto hosted = graphs.find("replier");
  const Value warm{{"tone", "warm"}};
  EXPECT_EQ(hosted->run_context({{"tone", "warm"}, {"dropped", 1}}), warm);
  EXPECT_EQ(hosted->run_context(Value()), Value());
}

TEST(HostedGraph, WithoutAContextSchemaTheContextIsTakenAsItIs) {
  GraphRegistry graphs(CompileOptions{});
  graphs.load({{"which", kFolder / "libtest_plugin_one.so", "which", ""}});
  const Value any{{"a", 1}};
  EXPECT_EQ(graphs.find("which")->run_context(any), any);
}

}  // namespace
}  // namespace clew::server
