// One half of a thread whose other half LangGraph runs; kill_between_engines.py
// has the same graph, kills whoever starts and lets the other one finish.
#pragma once

#include <string>

namespace clew::fault {

// Starts the thread in a file of LangGraph's layout. Its node `slow` never
// returns, so this does not either.
void start_handoff(const std::string& file, const std::string& sink);

// Continues the thread to its end, and prints the state as JSON.
void finish_handoff(const std::string& file, const std::string& sink);

}  // namespace clew::fault
