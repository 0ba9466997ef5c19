// Calls of Python constructors as data: what module.name(*args, **kwargs) would
// be as a value, without running anything.
#pragma once

#include <optional>
#include <string_view>

#include <clew/value.hpp>

namespace clew::serde {

// The value of the call, for the classes that LangGraph allows in any
// checkpoint: dates and times, UUID, Decimal, set, frozenset, deque, IP types,
// paths, ZoneInfo, re.compile, LangChain messages and documents, and
// langgraph.types and langgraph.store.base.
//
// Null if Python's constructor would refuse the arguments. Nothing if the class
// is another, or if the arguments are ones that only Python can work out (such
// as a time in a named zone).
std::optional<Value> call_constructor(std::string_view module, std::string_view name,
                                      const Value& args, const Value& kwargs);

}  // namespace clew::serde
