// Builds graphs: nodes that read and update a shared state, and edges between them.
//
//   struct State { std::string foo; std::vector<std::string> bar; };
//   CLEW_STATE(State, foo, reduced(bar, append))
//
//   auto graph = StateGraph<State>()
//       .add_node("node_a", [](const State&) { return Update{{"foo", "a"}, {"bar", {"a"}}}; })
//       .add_edge(START, "node_a")
//       .add_edge("node_a", END)
//       .compile({.checkpointer = std::make_shared<InMemorySaver>()});
//
// A node takes the state, or a struct with some of its fields, and if it wants
// a Runtime&. It returns an Update, a struct, a Command, a list of Commands, or
// nothing; or a Task of these if it is a coroutine. StateGraph<Value> has its
// channels given by name and nodes that take a Value.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <clew/channels.hpp>
#include <clew/compiled_graph.hpp>
#include <clew/state.hpp>
#include <clew/types.hpp>

namespace clew {

class Cache;
class Checkpointer;
class Store;

// Changes to the state, by channel.
//   return Update{{"foo", "a"}, {"bar", {"a"}}};
class Update {
 public:
  Update() : value_(object()) {}
  Update(std::initializer_list<detail::Item> entries) : value_(entries) {}
  explicit Update(Value entries) : value_(std::move(entries)) {}

  Update& set(std::string_view channel, Value value) {
    value_ = value_.set(channel, std::move(value));
    return *this;
  }
  const Value& value() const& { return value_; }
  Value value() && { return std::move(value_); }

 private:
  Value value_;
};
inline Value to_value(const Update& update) { return update.value(); }

// A node's function with its types erased.
struct NodeBody {
  std::function<Value(const Value& input, Runtime& runtime)> function;
  std::function<Task<Value>(Value input, Runtime& runtime)> coroutine;
  std::optional<CompiledGraph> subgraph;
};
using RouterBody = std::function<Value(const Value& state, Runtime& runtime)>;

// A node, or END, that a Command may go to.
//   .destinations = {"search", {END, "nothing to look for"}}
struct Destination {
  Destination(const char* to) : node(to) {}
  Destination(std::string to) : node(std::move(to)) {}
  Destination(std::string to, std::string why) : node(std::move(to)), label(std::move(why)) {}

  std::string node;
  std::optional<std::string> label = {};
};

struct NodeOptions {
  // What the node reads, by channel name. Empty: the state schema, or the
  // fields of the struct the node takes.
  std::vector<std::string> reads = {};

  // Run when everything else is done.
  bool defer = false;

  std::vector<RetryPolicy> retry_policy = {};
  std::optional<CachePolicy> cache_policy = {};
  std::optional<TimeoutPolicy> timeout = {};

  // Shown in events of mode `tasks`.
  Value metadata = {};

  // For drawing: where Commands of this node may go, each with a label if you like.
  std::vector<Destination> destinations = {};

  // Runs when the node has failed for good, and takes (const Value& state,
  // Runtime&); its result takes the place of the node's. The node's edges are
  // not followed, as in LangGraph: return a Command to go on.
  RouterBody error_handler = {};

  // Graphs that the node calls with invoke(input, runtime), for get_state.
  std::vector<CompiledGraph> calls = {};
};

// Whether a compiled graph keeps its own history when it is used as a subgraph.
enum class SubgraphPersistence {
  inherit,  // saved under the task that runs it; gone with the next one
  own,      // keeps one history per thread and node
  off,      // not saved
};

struct CompileOptions {
  // Where super-steps are saved. Null: nothing survives the call, or, in a
  // subgraph, the checkpointer of the graph around it.
  std::shared_ptr<Checkpointer> checkpointer = {};
  SubgraphPersistence subgraph_persistence = SubgraphPersistence::inherit;

  // Stop before or after running these nodes and wait for a resume. "*" is every node.
  std::vector<std::string> interrupt_before = {};
  std::vector<std::string> interrupt_after = {};

  std::shared_ptr<Store> store = {};
  std::shared_ptr<Cache> cache = {};

  // Runs tasks and coroutines. Null: default_executor().
  std::shared_ptr<Executor> executor = {};

  std::string name = "LangGraph";
};

// What StateGraph collects; the same for every state type.
class GraphBuilder {
 public:
  struct Node {
    std::string name;
    NodeBody body;
    NodeOptions options;
  };
  struct Edge {
    std::vector<std::string> from;  // several: waits for all
    bool is_join = false;
    std::string to;
  };
  struct Branch {
    std::string from;
    RouterBody router;
    std::optional<std::map<std::string, std::string>> path_map;
    std::vector<std::string> reads;  // empty: what the node reads
    std::string name;
  };

  // Channels in order. Those of `schema` are the state; others are private.
  std::vector<std::pair<std::string, ChannelPtr>> channels;
  std::vector<std::string> schema;
  std::vector<std::string> input;   // empty: schema
  std::vector<std::string> output;  // empty: schema

  // For JSON Schemas: what channels hold, and the names of the types they are
  // from. Empty: made up from the first values, and from the graph's name.
  std::map<std::string, Value> json_schemas;
  std::string schema_title;
  std::string input_title;   // empty: schema_title
  std::string output_title;  // empty: schema_title
  Value context_schema;      // null: there is none

  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<Branch> branches;

  void add_channel(std::string name, ChannelPtr channel);
  void add_node(std::string name, NodeBody body, NodeOptions options);
  void add_edge(std::vector<std::string> from, bool is_join, std::string to);
  void add_branch(Branch branch);
  // Throws GraphError that names the node and the fix.
  CompiledGraph compile(CompileOptions options) const;
};

namespace detail {

template <class F>
struct FunctionTraits {};
template <class F>
  requires requires { &F::operator(); }
struct FunctionTraits<F> : FunctionTraits<decltype(&F::operator())> {};
template <class R, class C, class First, class... Rest, bool kNoexcept>
struct FunctionTraits<R (C::*)(First, Rest...) const noexcept(kNoexcept)> {
  using Input = std::remove_cvref_t<First>;
};
template <class R, class C, class First, class... Rest, bool kNoexcept>
struct FunctionTraits<R (C::*)(First, Rest...) noexcept(kNoexcept)> {
  using Input = std::remove_cvref_t<First>;
};
template <class R, class First, class... Rest, bool kNoexcept>
struct FunctionTraits<R (*)(First, Rest...) noexcept(kNoexcept)> {
  using Input = std::remove_cvref_t<First>;
};

// What a callable takes first: its own parameter type, or `Default` if it is generic.
template <class F, class Default>
struct InputOf {
  using Type = Default;
};
template <class F, class Default>
  requires requires { typename FunctionTraits<std::decay_t<F>>::Input; }
struct InputOf<F, Default> {
  using Type = typename FunctionTraits<std::decay_t<F>>::Input;
};

template <class T>
inline constexpr bool kIsTask = false;
template <class T>
inline constexpr bool kIsTask<Task<T>> = true;

// Nothing, what has a Value, or a Task of these.
template <class T>
inline constexpr bool kIsReturnable = std::is_void_v<T> || std::constructible_from<Value, T>;
template <class T>
inline constexpr bool kIsReturnable<Task<T>> = kIsReturnable<T>;

template <class F, class In>
concept TakesRuntime = std::invocable<F&, const In&, Runtime&>;
template <class F, class In>
concept NodeCallable = TakesRuntime<F, In> || std::invocable<F&, const In&>;

template <class F, class In>
decltype(auto) call_node(F& function, const In& input, Runtime& runtime) {
  if constexpr (TakesRuntime<F, In>) {
    return function(input, runtime);
  } else {
    return function(input);
  }
}

template <class F, class In>
using NodeResult =
    decltype(call_node(std::declval<F&>(), std::declval<const In&>(), std::declval<Runtime&>()));

template <class In>
In read_input(const Value& input) {
  if constexpr (std::same_as<In, Value>) {
    return input;
  } else {
    return input.get<In>();
  }
}

// What a node returned, as a Value.
inline Value take_value(Update&& update) { return std::move(update).value(); }
template <class Result>
Value take_value(Result&& result) {
  return Value(std::forward<Result>(result));
}

template <class F, class In>
Task<Value> run_coroutine(F function, Value raw, Runtime& runtime) {
  const In input = read_input<In>(raw);
  using Result = typename NodeResult<F, In>::value_type;
  if constexpr (std::is_void_v<Result>) {
    co_await call_node(function, input, runtime);
    co_return Value();
  } else {
    auto result = co_await call_node(function, input, runtime);
    Value value = take_value(std::move(result));
    co_return value;
  }
}

// A function of the wrong form gets one error, from the static_assert of whoever
// takes it; it then has no body, so that no others follow.
template <class F, class In>
NodeBody make_node_body(F function) {
  NodeBody body;
  if constexpr (NodeCallable<F, In>) {
    using Result = NodeResult<F, In>;
    static_assert(kIsReturnable<Result>,
                  "a node or task returns an Update, a struct, a Command, a std::vector of "
                  "Commands, anything else that converts to a clew::Value, or nothing; or a Task "
                  "of these");
    if constexpr (!kIsReturnable<Result>) {
      return body;
    } else if constexpr (kIsTask<Result>) {
      body.coroutine = [function](Value raw, Runtime& runtime) {
        return run_coroutine<F, In>(function, std::move(raw), runtime);
      };
    } else {
      body.function = [function](const Value& raw, Runtime& runtime) mutable -> Value {
        if constexpr (std::is_void_v<Result>) {
          call_node(function, read_input<In>(raw), runtime);
          return {};
        } else {
          return take_value(call_node(function, read_input<In>(raw), runtime));
        }
      };
    }
  }
  return body;
}

template <class F, class In>
concept RouterCallable = NodeCallable<F, In> && !std::is_void_v<NodeResult<F, In>> &&
                         std::constructible_from<Value, NodeResult<F, In>>;

template <class F, class In>
RouterBody make_router(F function) {
  if constexpr (RouterCallable<F, In>) {
    return [function](const Value& raw, Runtime& runtime) mutable -> Value {
      return Value(call_node(function, read_input<In>(raw), runtime));
    };
  } else {
    return {};
  }
}

// What a node or router may take.
template <class In>
concept NodeInput = std::same_as<In, Value> || HasSchema<In>;

ChannelPtr channel_of(const Field& field);

template <class T>
std::vector<std::string> field_list() {
  std::vector<std::string> names;
  for (const Field& field : schema_of<T>()) names.push_back(field.name);
  return names;
}

// The name of a struct, as schemas show it. What is no state has none; the one
// error about it comes from schema_of.
template <class T>
std::string type_title() {
  if constexpr (HasSchema<T>) {
    return std::string(unqualified(clew_struct(TypeTag<T>{}).name));
  } else {
    return {};
  }
}

}  // namespace detail

template <class State = Value>
class StateGraph {
 public:
  // The channels are the fields of State.
  StateGraph()
    requires(!std::same_as<State, Value>)
  {
    use_fields<State>(true);
    builder_.schema_title = detail::type_title<State>();
  }

  // The channels, by name, in order.
  StateGraph(std::initializer_list<std::pair<std::string, ChannelPtr>> channels)
    requires std::same_as<State, Value>
  {
    for (const auto& [name, channel] : channels) {
      builder_.add_channel(name, channel);
      builder_.schema.push_back(name);
    }
  }

  // Input and output schema: what invoke() takes and returns, if not all of State.
  template <class Input>
  StateGraph& input_schema() {
    use_fields<Input>(false);
    builder_.input = detail::field_list<Input>();
    builder_.input_title = detail::type_title<Input>();
    return *this;
  }
  template <class Output>
  StateGraph& output_schema() {
    use_fields<Output>(false);
    builder_.output = detail::field_list<Output>();
    builder_.output_title = detail::type_title<Output>();
    return *this;
  }

  // What Config::context holds, for those who ask for the graph's schemas. Nodes
  // read it with runtime.context<Context>().
  template <detail::HasFields Context>
  StateGraph& context_schema() {
    builder_.context_schema = json_schema<Context>();
    return *this;
  }

  template <class F>
  StateGraph& add_node(std::string name, F function, NodeOptions options = {}) {
    if constexpr (std::same_as<F, CompiledGraph>) {
      NodeBody body;
      body.subgraph = std::move(function);
      builder_.add_node(std::move(name), std::move(body), std::move(options));
    } else {
      using In = typename detail::InputOf<F, State>::Type;
      static_assert(detail::NodeCallable<F, In>,
                    "a node is a function of the state, or of the state and a Runtime&: "
                    "[](const State& state, Runtime& runtime) { return Update{...}; }");
      static_assert(detail::NodeInput<In>,
                    "a node takes the state, a struct with some of its fields, or a clew::Value; "
                    "write CLEW_STATE(T, fields...) after the struct");
      if constexpr (detail::NodeInput<In>) {
        if constexpr (!std::same_as<In, State> && !std::same_as<In, Value>) {
          use_fields<In>(false);
          if (options.reads.empty()) options.reads = detail::field_list<In>();
        }
        builder_.add_node(std::move(name), detail::make_node_body<F, In>(std::move(function)),
                          std::move(options));
      }
    }
    return *this;
  }

  // After `from`, run `to`.
  StateGraph& add_edge(std::string from, std::string to) {
    builder_.add_edge({std::move(from)}, false, std::move(to));
    return *this;
  }
  // After all of `from`, run `to` once.
  StateGraph& add_edge(std::vector<std::string> from, std::string to) {
    builder_.add_edge(std::move(from), true, std::move(to));
    return *this;
  }
  // For add_edge({"a", "b"}, "c"): two literals in braces could also be the ends of a string.
  StateGraph& add_edge(std::initializer_list<std::string> from, std::string to) {
    return add_edge(std::vector<std::string>(from), std::move(to));
  }

  // After `from`, run what `router` returns: a node's name, a Send, or a list of
  // these; END to stop. With a path map its results are labels looked up there.
  template <class F>
  StateGraph& add_conditional_edges(
      std::string from, F router,
      std::optional<std::map<std::string, std::string>> path_map = std::nullopt) {
    using In = typename detail::InputOf<F, State>::Type;
    static_assert(detail::RouterCallable<F, In>,
                  "a router is a function of the state, or of the state and a Runtime&, that "
                  "returns a node's name, a Send, or a std::vector of these");
    static_assert(detail::NodeInput<In>,
                  "a router takes the state, a struct with some of its fields, or a clew::Value; "
                  "write CLEW_STATE(T, fields...) after the struct");
    if constexpr (detail::NodeInput<In>) {
      GraphBuilder::Branch branch;
      branch.from = std::move(from);
      branch.router = detail::make_router<F, In>(std::move(router));
      branch.path_map = std::move(path_map);
      if constexpr (!std::same_as<In, State> && !std::same_as<In, Value>) {
        use_fields<In>(false);
        branch.reads = detail::field_list<In>();
      }
      builder_.add_branch(std::move(branch));
    }
    return *this;
  }

  // Nodes that run one after the other.
  //   graph.add_sequence(std::pair("clean", clean), std::pair("count", count));
  template <class Name, class F, class... Names, class... Rest>
  StateGraph& add_sequence(std::pair<Name, F> first, std::pair<Names, Rest>... rest) {
    std::string previous = first.first;
    add_node(first.first, std::move(first.second));
    ((add_node(rest.first, std::move(rest.second)), add_edge(previous, rest.first),
      previous = rest.first),
     ...);
    return *this;
  }

  StateGraph& set_entry_point(std::string node) { return add_edge(START, std::move(node)); }
  StateGraph& set_finish_point(std::string node) { return add_edge(std::move(node), END); }

  CompiledGraph compile(CompileOptions options = {}) const {
    return builder_.compile(std::move(options));
  }

  // For graphs that are made from data.
  GraphBuilder& builder() { return builder_; }

 private:
  template <class T>
  void use_fields(bool is_state) {
    for (const Field& field : schema_of<T>()) {
      builder_.add_channel(field.name, detail::channel_of(field));
      builder_.json_schemas.try_emplace(field.name, field.json_schema);
      if (is_state) builder_.schema.push_back(field.name);
    }
  }

  GraphBuilder builder_;
};

}  // namespace clew
