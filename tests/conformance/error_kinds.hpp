// The kinds by which scenarios tell errors apart, whatever an engine calls them.
#pragma once

#include <exception>
#include <set>
#include <string>

#include <clew/value.hpp>

namespace clew::conformance {

// An error that reached the caller: {"kind": "node_error", "name", "message"} or
// {"kind", "hint"}.
Value error_of(const std::exception_ptr& error);

// An error as it is stored with a task, in the form of Python's repr: {"kind",
// "message"} of a node's error, else {"kind"}. `node_error_kinds` are the names that
// `fail` statements use.
Value stored_error(const Value& stored, const std::set<std::string>& node_error_kinds);

}  // namespace clew::conformance
