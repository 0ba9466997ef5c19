#include "error_kinds.hpp"

#include <string_view>

#include <clew/errors.hpp>

#include "python.hpp"

namespace clew::conformance {
namespace {

template <class E>
bool is(const std::exception& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}

struct ClassKind {
  bool (*matches)(const std::exception&);
  std::string_view kind;
};

// Derived classes come before their bases.
constexpr ClassKind kClassKinds[] = {
    {is<AmbiguousUpdateError>, "ambiguous_update"},
    {is<UnknownNodeError>, "unknown_node"},
    {is<NoParentGraphError>, "no_parent_graph"},
    {is<InvalidUpdateError>, "invalid_update"},
    {is<GraphRecursionError>, "recursion_limit"},
    {is<EmptyInputError>, "empty_input"},
    {is<MissingThreadError>, "missing_thread"},
    {is<NoCheckpointerError>, "no_checkpointer"},
    {is<AmbiguousResumeError>, "ambiguous_resume"},
    {is<SubgraphNotFoundError>, "subgraph_not_found"},
    {is<UnknownLabelError>, "unknown_label"},
    {is<MessageNotFoundError>, "message_not_found"},
    {is<InvalidNamespaceError>, "bad_namespace"},
    {is<BadArgumentError>, "bad_argument"},
    {is<ReducerTypeError>, "type_error"},
    {is<GraphError>, "invalid_graph"},
    {is<ValueError>, "value_error"},
};

Value kind_of(const std::exception& error) {
  if (const auto* node_error = dynamic_cast<const NodeError*>(&error)) {
    return object(
        {{"kind", "node_error"}, {"name", node_error->kind()}, {"message", node_error->message()}});
  }
  for (const ClassKind& candidate : kClassKinds) {
    if (candidate.matches(error)) {
      return object({{"kind", candidate.kind}, {"hint", error.what()}});
    }
  }
  return object({{"kind", "any_error"}, {"hint", error.what()}});
}

struct StoredKind {
  std::string_view class_name;
  std::string_view phrase;  // in its text; empty: in any
  std::string_view kind;
};

// LangGraph raises Python's own classes for much, and only their text says why.
// The first match counts.
constexpr StoredKind kStoredKinds[] = {
    {"InvalidUpdateError", "Ambiguous update", "ambiguous_update"},
    {"InvalidUpdateError", "does not exist", "unknown_node"},
    {"InvalidUpdateError", "There is no parent graph", "no_parent_graph"},
    {"InvalidUpdateError", "", "invalid_update"},
    {"GraphRecursionError", "", "recursion_limit"},
    {"EmptyInputError", "", "empty_input"},
    {"InvalidNamespaceError", "", "bad_namespace"},
    {"ParentCommand", "", "no_parent_graph"},
    {"ValueError", "Checkpointer requires", "missing_thread"},
    {"ValueError", "No checkpointer set", "no_checkpointer"},
    {"ValueError", "Subgraph", "subgraph_not_found"},
    {"ValueError", "recursion_limit must be", "bad_argument"},
    {"ValueError", "not in channels", "bad_argument"},
    {"ValueError", "No supersteps", "bad_argument"},
    {"ValueError", "No updates", "bad_argument"},
    {"ValueError", "delete a message with an ID", "message_not_found"},
    {"ValueError", "amespace", "bad_namespace"},
    {"ValueError", "", "value_error"},
    {"KeyError", "thread_id", "missing_thread"},
    {"KeyError", "", "unknown_label"},
    {"RuntimeError", "without checkpointer", "no_checkpointer"},
    {"RuntimeError", "checkpointer=True cannot be used", "no_checkpointer"},
    {"RuntimeError", "multiple pending interrupts", "ambiguous_resume"},
    {"TypeError", "", "type_error"},
};

std::string stored_kind(const PythonError& error) {
  const std::string& text = error.message ? *error.message : error.argument;
  for (const StoredKind& candidate : kStoredKinds) {
    if (candidate.class_name == error.class_name &&
        text.find(candidate.phrase) != std::string::npos) {
      return std::string(candidate.kind);
    }
  }
  return "error:" + error.class_name;
}

}  // namespace

Value error_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return kind_of(known);
  } catch (...) {
    return object({{"kind", "any_error"}, {"hint", "something that is no std::exception"}});
  }
}

Value stored_error(const Value& stored, const std::set<std::string>& node_error_kinds) {
  const std::string text = python_text(stored);
  const auto error = parse_python_error(text);
  if (!error) return object({{"kind", "error"}, {"message", text}});
  if (error->message && node_error_kinds.contains(error->class_name)) {
    return object({{"kind", error->class_name}, {"message", *error->message}});
  }
  return object({{"kind", stored_kind(*error)}});
}

}  // namespace clew::conformance
