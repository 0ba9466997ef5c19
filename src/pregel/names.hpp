// The reserved names of LangGraph's tables and events. Persisted: never rename.
#pragma once

#include <string_view>

namespace clew::pregel {

// Channels.
inline constexpr std::string_view kStart = "__start__";
inline constexpr std::string_view kEnd = "__end__";
inline constexpr std::string_view kTasks = "__pregel_tasks";   // pending Sends
inline constexpr std::string_view kPrevious = "__previous__";  // what an entrypoint saved
inline constexpr std::string_view kRoot = "__root__";          // a state without keys
inline constexpr std::string_view kBranchTo = "branch:to:";    // an edge's trigger

// Writes that reach no channel.
inline constexpr std::string_view kError = "__error__";
inline constexpr std::string_view kErrorSourceNode = "__error_source_node__";
inline constexpr std::string_view kInterrupt = "__interrupt__";
inline constexpr std::string_view kResume = "__resume__";
inline constexpr std::string_view kReturn = "__return__";
inline constexpr std::string_view kNoWrites = "__no_writes__";

// Entries of versions_seen and task names that are no nodes.
inline constexpr std::string_view kInput = "__input__";
inline constexpr std::string_view kSnapshotBumps = "__snapshot_bumps__";

inline constexpr std::string_view kPull = "__pregel_pull";
inline constexpr std::string_view kPush = "__pregel_push";

inline constexpr char kNamespaceSeparator = '|';
inline constexpr char kNamespaceEnd = ':';

// Writes that say what happened to a task rather than what it produced.
inline bool is_control(std::string_view channel) {
  return channel == kError || channel == kErrorSourceNode || channel == kInterrupt ||
         channel == kResume;
}

}  // namespace clew::pregel
