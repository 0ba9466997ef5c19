// How what the engine returns looks in the API.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <clew/compiled_graph.hpp>

#include "server/records.hpp"

namespace clew::server {

// The value as its JSON reads: messages and other typed values as plain objects.
Value plain(const Value& value);
std::string json_text(const Value& value);

// "2024-05-06T07:08:09.123456+00:00"
std::string time_text(Time time);

// {"thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map"?}; null for none.
Value checkpoint_value(const Config& config);

// A ThreadState.
Value state_value(const StateSnapshot& snapshot);

// What a thread's record keeps of its newest state.
struct ThreadFacts {
  Value values = {};            // null if there is no checkpoint
  Value interrupts = object();  // {task id: [{id, value}]}
  bool has_next = false;
  bool has_checkpoint = false;
};
ThreadFacts facts_of(const StateSnapshot& snapshot);

// [{value, id, response_schema}] of the engine's interrupts, as streams have them.
Value stream_interrupts(const Value& interrupts);

// {"error", "message"}; never tells where data is kept.
Value error_value(const std::exception_ptr& error);

// Entries of `object` whose keys are in `keys`, in that order.
Value select(const Value& object, const std::vector<std::string>& keys);

// Only objects are merged; null counts as empty.
Value merged(const Value& base, const Value& over);

}  // namespace clew::server
