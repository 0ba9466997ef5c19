// Reducers for lists of messages: they merge by id, as LangGraph's do.
//
//   CLEW_STATE(State, reduced(messages, add_messages))
//
//   add_messages(list(), "hi");                                        // [HumanMessage "hi"], with an id
//   add_messages(messages, AIMessage{.content = "no", .id = "a-1"});   // replaces, or follows
//   add_messages(messages, RemoveMessage{.id = "a-1"});
//   add_messages(messages, RemoveMessage{.id = REMOVE_ALL_MESSAGES});
//
// All functions may be called from any thread.
#pragma once

#include <span>

#include <clew/messages.hpp>
#include <clew/value.hpp>

namespace clew {
namespace reducers {

// `current` with the messages of `update`, which is a list or a single one, in
// any form that convert_to_message() takes. One whose id is known takes that
// place, others follow; parts of streamed messages become messages; a message
// without id gets a new one. RemoveMessage takes the message of its id out, and
// with REMOVE_ALL_MESSAGES all that came before it. Appending shares the list,
// and looks through its ids without copying. Throws ValueError for what is no
// message, and MessageNotFoundError for the removal of an unknown id.
Value add_messages(const Value& current, const Value& update);

// The same for a delta() channel, which folds many writes at once. Ids are
// taken as they are, REMOVE_ALL_MESSAGES has no meaning, and the removal of an
// unknown id is ignored. Throws ValueError for what is no message.
Value messages_delta_reducer(const Value& current, std::span<const Value> writes);

}  // namespace reducers

using reducers::add_messages;
using reducers::messages_delta_reducer;

// A write to a delta channel with messages_delta_reducer, where every message
// is converted and has an id: what is stored is replayed on each read, and must
// be the same each time. What is no message stays as it is, except that a
// broken object with a message's role in a list throws ValueError.
Value ensure_message_ids(const Value& write);

// The same for a delta channel with another reducer, which may hold other data:
// only messages, and in lists objects with a message's role, are touched.
Value ensure_message_object_ids(const Value& write);

}  // namespace clew
