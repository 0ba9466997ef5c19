// Graphs in a shared library that a server loads by name.
//
//   // agent.cpp
//   #include <clew/clew.hpp>
//   #include <clew/plugin.hpp>
//
//   clew::StateGraph<State> make_graph() {
//     return clew::StateGraph<State>().add_node("agent", agent).add_edge(clew::START, "agent");
//   }
//   CLEW_GRAPH(make_graph)
//
//   # CMakeLists.txt
//   find_package(clew REQUIRED)
//   clew_add_graph_plugin(agent agent.cpp)
//
//   // clew.json
//   {"graphs": {"agent": "./libagent.so:make_graph"}}
//
// The function is any that a GraphFactory takes (graph_factory.hpp). CLEW_GRAPH
// goes at namespace scope, once for each graph, in any file of the library.
//
// What the library exports is two kinds of C functions:
//
//   std::uint64_t clew_plugin_abi(void);
//   void clew_graph_<name>(const clew::CompileOptions* options,
//                          std::optional<clew::CompiledGraph>* graph);
//
// The first says by which Clew the library was compiled; the server calls no
// other before it has compared that with its own, as C++ objects go through the
// second. It fills in *graph, or throws.
//
// A plugin does not contain Clew: its symbols are those of the program that
// loads it, so there is one engine in the process. Hence it must be compiled by
// the same compiler against the same headers, which the number checks.
//
// While a run uses a graph, its library stays loaded, also if a newer version
// has taken its place. What a plugin leaves behind elsewhere (a C++ object kept
// by clew::wrap() in a cache, a thread of its own) must not need its code later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <clew/checkpointer.hpp>
#include <clew/graph_factory.hpp>
#include <clew/store.hpp>

namespace clew {

// Raised when what goes through clew_graph_<name> changes in a way that sizes do not show.
inline constexpr std::uint32_t kPluginAbi = 1;

namespace detail {

// The sizes of what a plugin and its host share, as one number.
constexpr std::uint32_t layout_of(std::initializer_list<std::size_t> sizes) {
  std::uint32_t hash = 2166136261U;
  for (const std::size_t size : sizes) hash = (hash ^ static_cast<std::uint32_t>(size)) * 16777619U;
  return hash;
}

}  // namespace detail

// kPluginAbi in the upper half, the layout of types in the lower.
constexpr std::uint64_t plugin_abi() {
  const std::uint32_t layout = detail::layout_of(
      {sizeof(CompileOptions), sizeof(CompiledGraph), sizeof(NodeOptions), sizeof(NodeBody),
       sizeof(GraphBuilder), sizeof(GraphBuilder::Node), sizeof(GraphBuilder::Branch),
       sizeof(Channel), sizeof(Config), sizeof(Runtime), sizeof(Value), sizeof(Item),
       sizeof(std::string), static_cast<std::size_t>(__GXX_ABI_VERSION)});
  return (std::uint64_t{kPluginAbi} << 32) | layout;
}

namespace detail {

template <class F>
void make_plugin_graph(F make, const CompileOptions* options, std::optional<CompiledGraph>* graph) {
  graph->emplace(GraphFactory(make)(*options));
}

}  // namespace detail
}  // namespace clew

// In every file that includes this; the linker keeps one.
extern "C" [[gnu::weak, gnu::used, gnu::visibility("default")]] std::uint64_t clew_plugin_abi() {
  return clew::plugin_abi();
}

#define CLEW_GRAPH(function)                                                                 \
  extern "C" [[gnu::visibility("default")]] void clew_graph_##function(                      \
      const ::clew::CompileOptions* options, ::std::optional<::clew::CompiledGraph>* graph); \
  extern "C" void clew_graph_##function(const ::clew::CompileOptions* options,               \
                                        ::std::optional<::clew::CompiledGraph>* graph) {     \
    ::clew::detail::make_plugin_graph(function, options, graph);                             \
  }
