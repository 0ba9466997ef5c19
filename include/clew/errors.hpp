// What can go wrong with a graph: while it is built, while it runs, and in the
// calls that look at a thread or change it.
//
//   try {
//     graph.invoke(input, thread);
//   } catch (const GraphRecursionError&) {
//     // it did not come to an end; raise Config::recursion_limit or fix the cycle
//   } catch (const NodeError& error) {
//     log(error.kind(), error.message());
//   }
//
// Nodes may throw anything; what they throw reaches the caller as it is. All of
// these are plain values: copy them, keep them, read them from any thread.
#pragma once

#include <string>
#include <utility>

#include <clew/error.hpp>

namespace clew {

// A graph that cannot be built or compiled. The message names the node and the fix.
class GraphError : public Error {
 public:
  using Error::Error;
};

// ---- While a graph runs

// A failure that a node announces. It is stored with the task as Kind('message'),
// which is what a Python exception of a class named `kind` would leave.
//
//   throw NodeError("RateLimited", "try again in a minute");
//   throw NodeError("BadPrompt", "too long", /*retryable=*/false);
class NodeError : public Error {
 public:
  NodeError(std::string kind, std::string message, bool retryable = true)
      : Error(message),
        kind_(std::move(kind)),
        message_(std::move(message)),
        is_retryable_(retryable) {}

  const std::string& kind() const noexcept { return kind_; }
  const std::string& message() const noexcept { return message_; }

  // Whether a RetryPolicy without a condition of its own runs the node again.
  bool is_retryable() const noexcept { return is_retryable_; }

 private:
  std::string kind_;
  std::string message_;
  bool is_retryable_;
};

// An update that the state does not take: two values for a channel that keeps
// one, two Overwrites, a node that returned something else than an update.
class InvalidUpdateError : public Error {
 public:
  using Error::Error;
};

// update_state() without as_node where several nodes could have made the update.
class AmbiguousUpdateError : public InvalidUpdateError {
 public:
  using InvalidUpdateError::InvalidUpdateError;
};

// update_state() as a node that the graph does not have.
class UnknownNodeError : public InvalidUpdateError {
 public:
  using InvalidUpdateError::InvalidUpdateError;
};

// A Command for the parent graph in a graph that has none.
class NoParentGraphError : public InvalidUpdateError {
 public:
  using InvalidUpdateError::InvalidUpdateError;
};

// A reducer got a value that it cannot combine with what is there.
class ReducerTypeError : public Error {
 public:
  using Error::Error;
};

// A RemoveMessage for an id that is not in the list.
class MessageNotFoundError : public Error {
 public:
  using Error::Error;
};

// A router returned a label that its path map does not have.
class UnknownLabelError : public Error {
 public:
  using Error::Error;
};

// The run took as many super-steps as Config::recursion_limit allows and was not done.
class GraphRecursionError : public Error {
 public:
  using Error::Error;
};

// The attempt of a node took longer than its TimeoutPolicy allows.
class NodeTimeout : public Error {
 public:
  using Error::Error;
};

// The run was stopped through Config::stop. What had finished is saved; the
// thread can be continued.
class Cancelled : public Error {
 public:
  using Error::Error;
};

// Another run moved the thread meanwhile. Nothing of this step was saved as the
// thread's next checkpoint; the message names both checkpoints.
class ThreadConflict : public Error {
 public:
  using Error::Error;
};

// A database could not be opened, read or written. The message holds its reason
// and what to do; nothing of the call was stored.
//
// If a node failed in a run that could not be stored, this is what the run throws, as
// what other nodes did is not stored either. The message names both, and the node's
// error is nested: std::rethrow_if_nested(error) throws it. ThreadConflict is the same.
class StorageError : public Error {
 public:
  using Error::Error;
};

// Texts could not be turned into vectors: the endpoint was not there, refused the
// request, or answered with something else than the vectors asked for. Nothing
// of the call was stored.
class EmbeddingError : public Error {
 public:
  using Error::Error;
};

// ---- In the calls

// A run without input on a thread that has nothing to continue.
class EmptyInputError : public Error {
 public:
  using Error::Error;
};

// A graph with a checkpointer was called without a thread_id.
class MissingThreadError : public Error {
 public:
  using Error::Error;
};

// The call needs a checkpointer and the graph has none.
class NoCheckpointerError : public Error {
 public:
  using Error::Error;
};

// A single answer where several interrupts are pending: answer by interrupt id.
class AmbiguousResumeError : public Error {
 public:
  using Error::Error;
};

// Config::checkpoint_ns leads to no subgraph of this graph.
class SubgraphNotFoundError : public Error {
 public:
  using Error::Error;
};

// An argument that no call can mean: a recursion limit below 1, an output key
// that is no channel, an update without steps.
class BadArgumentError : public Error {
 public:
  using Error::Error;
};

// A namespace that a Store does not take: empty, with an empty label, a label
// with a dot, or one that is reserved.
class InvalidNamespaceError : public Error {
 public:
  using Error::Error;
};

}  // namespace clew
