// What a file holds of a thread, and what must be true of it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <clew/clew.hpp>

#include "sink.hpp"

namespace clew::fault {

// Read from the file before anybody continues the thread.
struct Stored {
  std::set<std::string> checkpoints;  // ids, in all namespaces
  std::set<std::string> tasks;        // ids of those that have a result
  std::set<std::string> tokens;       // of results, and of the newest state
};

Stored look(Checkpointer& saver, const std::string& thread_id);

// Throws unless SQLite finds the file's pages, tables and indexes in order.
void check_file(const std::string& path);

// Every namespace's checkpoints form one line, each the parent of the next, and
// the states of the root extend each other.
void check_lineage(const CompiledGraph& graph, Checkpointer& saver, const Config& thread);

// The lines of one process, once it is dead.
struct Aftermath {
  std::vector<Sink::Line> lines;
  Stored stored;
};

// What a call returned after, is stored.
void check_acknowledged(const Aftermath& after);

// Under durability `sync` a step begins when what it builds on is stored.
void check_steps_are_stored(const Aftermath& after);

// No task that had a result in `stored` begins in `later`; with `by_token` not
// under another task id either.
void check_nothing_repeated(const Stored& stored, const std::vector<Sink::Line>& later,
                            bool by_token);

}  // namespace clew::fault
