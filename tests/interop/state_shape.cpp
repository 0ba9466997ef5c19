#include "state_shape.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <clew/add_messages.hpp>
#include <clew/convert.hpp>
#include <clew/extension.hpp>
#include <clew/functional.hpp>
#include <clew/graph.hpp>
#include <clew/messages.hpp>

namespace clew::interop {
namespace {

constexpr std::string_view kRoot = "__root__";
constexpr std::string_view kWorkflowResult = "__end__";

// What a thread tells about one of its channels.
struct Evidence {
  bool is_delta = false;
  std::optional<Value> shown_unwritten;  // its value before the first write
  bool hidden_unwritten = false;         // it has none then
  bool hidden_empty = false;             // an empty list is stored, and not shown
  Value sample;                          // something that it holds or was written
};

bool is_state(std::string_view channel) {
  return channel == kRoot || (!channel.starts_with("__") && !channel.starts_with("branch:") &&
                              !channel.starts_with("join:"));
}

bool is_snapshot(const Value& value) {
  return value.is_extension() && value.as_extension().code == ExtensionCode::delta_snapshot;
}

class Thread {
 public:
  Thread(Checkpointer& saver, const std::string& thread_id, const Value& history) {
    for (const CheckpointTuple& tuple : saver.list(thread_id, "", {})) look_at(tuple);
    for (const Value& state : history) {
      const auto tuple =
          saver.get_tuple({thread_id, "", state["config"].get<std::string>("checkpoint_id")});
      if (tuple) compare(*tuple, state["values"]);
    }
  }

  bool is_workflow() const { return is_workflow_; }
  const std::map<std::string, Evidence, std::less<>>& channels() const { return channels_; }

 private:
  void look_at(const CheckpointTuple& tuple) {
    for (const auto& [channel, version] : tuple.checkpoint.channel_versions.items()) add(channel);
    for (const auto& [channel, value] : tuple.checkpoint.channel_values.items()) {
      if (Evidence* evidence = add(channel)) {
        evidence->is_delta = evidence->is_delta || is_snapshot(value);
        take_sample(*evidence, is_snapshot(value) ? value.as_extension().payload : value);
      }
    }
    for (const auto& [channel, count] : tuple.metadata["counters_since_delta_snapshot"].items()) {
      if (Evidence* evidence = add(channel)) evidence->is_delta = true;
    }
    for (const PendingWrite& write : tuple.pending_writes) {
      if (Evidence* evidence = add(write.channel)) take_sample(*evidence, write.value);
    }
  }

  // Whether a channel is there before its first write is seen in states only.
  void compare(const CheckpointTuple& tuple, const Value& values) {
    if (!channels_.contains(kRoot) && values.is_object() && !is_workflow_) {
      for (const auto& [channel, value] : values.items()) add(channel);
    }
    for (auto& [channel, evidence] : channels_) {
      const Value* shown = channel == kRoot ? &values : values.find(channel);
      const Value* stored = tuple.checkpoint.channel_values.find(channel);
      if (stored && !shown && *stored == list()) evidence.hidden_empty = true;
      if (tuple.checkpoint.channel_versions.contains(channel)) continue;
      if (shown) evidence.shown_unwritten = *shown;
      if (!shown) evidence.hidden_unwritten = true;
    }
  }

  Evidence* add(std::string_view channel) {
    is_workflow_ = is_workflow_ || channel == kWorkflowResult;
    return is_state(channel) ? &channels_[std::string(channel)] : nullptr;
  }

  static void take_sample(Evidence& evidence, const Value& value) {
    const bool says_little = evidence.sample.is_null() || evidence.sample == list();
    if (says_little && !overwritten(value)) evidence.sample = value;
  }

  std::map<std::string, Evidence, std::less<>> channels_;
  bool is_workflow_ = false;
};

bool holds_messages(const Value& sample) {
  return is_message(sample) ||
         (sample.is_list() && !sample.empty() && std::ranges::all_of(sample, is_message));
}

Value fold(const Value& current, std::span<const Value> writes) {
  Value result = current;
  for (const Value& write : writes) {
    result = current.is_object() ? merge(result, write) : add(result, write);
  }
  return result;
}

ChannelPtr delta_like(const Evidence& evidence) {
  if (holds_messages(evidence.sample)) return delta(messages_delta_reducer);
  return delta(fold, evidence.sample.is_object() ? object() : list());
}

// What reducers start from in Python, of its recorded form.
Value initial_value(const Value& recorded) {
  if (!recorded.is_object()) return recorded;
  if (recorded.contains("$float")) return 0.0;
  if (recorded.contains("$ext")) return std::set<Value>();
  return recorded;
}

ChannelPtr channel_like(const Evidence& evidence) {
  if (evidence.is_delta) return delta_like(evidence);
  if (evidence.hidden_empty) return topic(/*accumulate=*/true);
  const bool is_reduced =
      evidence.shown_unwritten || (!evidence.hidden_unwritten && evidence.sample.is_list());
  if (!is_reduced) return last_value();
  if (holds_messages(evidence.sample)) return reduced(add_messages, list());
  const Value initial = initial_value(evidence.shown_unwritten.value_or(list()));
  if (initial.is_extension()) return reduced(union_, initial);
  return initial.is_object() ? reduced(merge, initial) : reduced(add, initial);
}

}  // namespace

CompiledGraph graph_like(const std::shared_ptr<Checkpointer>& saver, const std::string& thread_id,
                         const Value& history) {
  const Thread thread(*saver, thread_id, history);
  NodeBody body;
  body.function = [](const Value&, Runtime&) { return Value(); };
  CompileOptions options{.checkpointer = saver};
  if (thread.is_workflow()) return make_entrypoint("workflow", std::move(body), {}, options);

  GraphBuilder builder;
  for (const auto& [channel, evidence] : thread.channels()) {
    builder.add_channel(channel, channel_like(evidence));
    builder.schema.push_back(channel);
  }
  builder.add_node("any node", std::move(body), {});
  builder.add_edge({START}, false, "any node");
  return builder.compile(options);
}

}  // namespace clew::interop
