// What makes a graph when somebody else decides where it is saved: the Agent
// Server compiles the graphs it serves with its own checkpointer, store and cache.
//
//   StateGraph<State> make_agent();
//   CompiledGraph make_workflow(const CompileOptions& options);
//
//   GraphFactory agent = make_agent;          // compiled by whoever calls the factory
//   GraphFactory workflow = make_workflow;    // compiles itself, with these options
//   CompiledGraph graph = agent({.checkpointer = saver, .name = "agent"});
//
// A factory may be called more than once and from any thread, if its function may.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <clew/graph.hpp>

namespace clew {

namespace detail {

template <class F>
concept MakesBuilder = requires(const F& make, CompileOptions options) {
  { make().compile(std::move(options)) } -> std::same_as<CompiledGraph>;
};

template <class F>
concept MakesGraph = std::is_invocable_r_v<CompiledGraph, const F&, const CompileOptions&>;

}  // namespace detail

class GraphFactory {
 public:
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, GraphFactory>)
  GraphFactory(F make) {
    static_assert(detail::MakesBuilder<F> || detail::MakesGraph<F>,
                  "a graph is made by a function that returns a StateGraph, or by one that takes "
                  "const CompileOptions& and returns a CompiledGraph");
    if constexpr (detail::MakesGraph<F>) {
      make_ = std::move(make);
    } else if constexpr (detail::MakesBuilder<F>) {
      make_ = [make = std::move(make)](const CompileOptions& options) {
        return make().compile(options);
      };
    }
  }

  // Throws GraphError, and what the function throws.
  CompiledGraph operator()(const CompileOptions& options) const { return make_(options); }

 private:
  std::function<CompiledGraph(const CompileOptions&)> make_;
};

}  // namespace clew
