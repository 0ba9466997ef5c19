// Streams that only watch a thread: its lifecycle and its questions, not what it says.
//
// The official clients keep such a stream beside those with the contents. When it
// tells them of a question they end their loops over the others, so a server that
// asks sooner than these are open would have its contents never read. Whoever
// only watches is therefore told of a question a moment later.
#pragma once

#include <chrono>
#include <memory>

#include "server/event_log.hpp"

namespace clew::server {

// How long those who only watch are not told of the event yet; zero for most.
std::chrono::milliseconds held_back(const Event& event);

// The events of a reader, with those that are held back a moment later.
std::unique_ptr<EventReader> watching(std::unique_ptr<EventReader> events);

}  // namespace clew::server
