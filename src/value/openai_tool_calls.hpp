// Tool calls in the form of OpenAI's API, {"id": ..., "function": {"name": ...,
// "arguments": "<JSON>"}}, which LangChain takes in several places.
#pragma once

#include <clew/messages.hpp>

namespace clew::internal {

// `call` in LangChain's form, unchanged if it is in that form already. Throws
// ValueError if the arguments are not JSON.
Value from_openai_tool_call(const Value& call);

// A message without tool calls gets those that additional_kwargs holds in
// OpenAI's form; calls that cannot be read become invalid_tool_calls.
void adopt_openai_tool_calls(AIMessage& message);

}  // namespace clew::internal
