// Values that are missing or damaged, made again from what the tasks wrote.
//
// The file does not say what kind a channel is of. So each kind that it may be of plays the
// thread from the beginning: whoever makes something else than what is stored is out, and
// a value is certain if all that are left make the same. Which writes led to a checkpoint is
// certain only sometimes, too; see StepReader.
#include <algorithm>
#include <map>
#include <set>

#include <clew/add_messages.hpp>
#include <clew/errors.hpp>
#include <clew/messages.hpp>
#include <clew/time.hpp>
#include <clew/types.hpp>

#include "checkpoint/delta_counters.hpp"
#include "checkpoint/join_writes.hpp"
#include "checkpoint/sqlite/native_layout.hpp"
#include "checkpoint/sqlite/value_patch.hpp"

namespace clew::sqlite {
namespace {

using internal::ChannelKind;
using internal::ChannelWrites;
using internal::is_same;
using internal::kDeltaCounters;

constexpr std::string_view kStart = "__start__";
constexpr std::string_view kTasks = "__pregel_tasks";
constexpr std::string_view kRoot = "__root__";
constexpr std::string_view kJoin = "join:";
constexpr std::string_view kPull = "~__pregel_pull, ";
constexpr std::string_view kPush = "~__pregel_push, ";
constexpr std::string_view kCall = "~__pregel_push, ~";
constexpr std::string_view kUpdate = "~__interrupt__, ";  // TaskPath::update
constexpr std::string_view kCommandTask = "00000000-0000-0000-0000-000000000000";

// Kinds of channels ---------------------------------------------------------------

// What a channel holds, as far as that is known.
struct Content {
  bool is_known = false;
  std::optional<Value> value = {};  // none: the channel holds nothing
  bool is_from_nothing = false;     // made from the assumption that the channel began empty

  static Content of(std::optional<Value> value, bool is_from_nothing = false) {
    return {true, std::move(value), is_from_nothing};
  }
};

// Of a channel of which nothing is known. Null counts as empty to the reducers.
std::vector<ChannelKind> all_kinds() {
  using Way = ChannelKind::Way;
  std::vector<ChannelKind> kinds;
  for (const Way way : {Way::last_value, Way::one_step, Way::topic, Way::collects}) {
    kinds.emplace_back(way);
  }
  const std::pair<Way, Reducer> reducers[] = {
      {Way::appends, append}, {Way::reduces, merge}, {Way::reduces, max}, {Way::reduces, union_}};
  for (const auto& [way, reducer] : reducers) {
    kinds.emplace_back(way, reducer);
    kinds.emplace_back(way, reducer, Value());
  }
  kinds.emplace_back(Way::reduces, add);
  kinds.emplace_back(Way::reduces, add, Value());
  kinds.emplace_back(Way::reduces, max, Value(0));
  kinds.emplace_back(Way::merges_messages, add_messages, list());
  return kinds;
}

// `reducer` is empty for a channel that keeps the last value.
std::vector<ChannelKind> named_kinds(const Reducer& reducer) {
  using Way = ChannelKind::Way;
  if (!reducer) return {ChannelKind(Way::last_value)};
  return {ChannelKind(Way::reduces, reducer), ChannelKind(Way::reduces, reducer, Value()),
          ChannelKind(Way::reduces, reducer, list())};
}

// Of "join:a+b:c". Nodes whose names are made of such signs are known by what they write.
std::vector<ChannelKind> join_kinds(std::string_view channel) {
  using Way = ChannelKind::Way;
  std::string_view rest = channel.substr(kJoin.size());
  rest = rest.substr(0, rest.rfind(':'));
  std::set<std::string> names;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('+'), rest.size());
    names.emplace(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {ChannelKind(Way::joins, names), ChannelKind(Way::joins_at_end, names)};
}

// Checkpoints and what led to them --------------------------------------------------

// Whether the two times are less than a second apart. Of what is no time they are not.
bool are_close(const std::string& a, const std::string& b) {
  try {
    return std::chrono::abs(parse_time(b) - parse_time(a)) < std::chrono::seconds(1);
  } catch (const Error&) {
    return false;
  }
}

struct KnownCheckpoint {
  std::string id;
  std::string parent_id;
  std::string made_at;
  std::string stored_at;
  const KnownCheckpoint* parent = nullptr;
  Value content = object();   // empty if it cannot be read
  Value metadata = object();  // the same

  std::optional<std::string> version(std::string_view channel) const {
    const Value& version = content["channel_versions"][channel];
    if (version.is_null()) return std::nullopt;
    return std::string(version_text(version).as_string());
  }
  bool has_moved(std::string_view channel) const {
    return version(channel) != (parent ? parent->version(channel) : std::nullopt);
  }
  std::string_view source() const {
    const Value& source = metadata["source"];
    return source.is_string() ? source.as_string() : "";
  }
  bool is_step_after(const KnownCheckpoint& other) const {
    const Value& step = metadata["step"];
    const Value& before = other.metadata["step"];
    return step.is_int() && before.is_int() && step.as_int() == before.as_int() + 1;
  }
};

struct RecordedWrite {
  PendingWrite write;
  std::string stored_at;

  bool has_path(std::string_view prefix) const { return write.task_path.starts_with(prefix); }
  bool is_of_node(std::string_view node) const {
    if (write.node == node) return true;
    return has_path(kPull) && std::string_view(write.task_path).substr(kPull.size()) == node;
  }
};

struct Record {
  std::vector<RecordedWrite> writes;  // in order; without errors, questions and answers
  bool is_complete = true;            // none of a task is known to be missing
};

// What led to a checkpoint.
struct Step {
  bool is_certain = false;
  bool ends = false;  // tasks ended: what holds for one step only is gone
  std::map<std::string, ChannelWrites, std::less<>> writes = {};

  const ChannelWrites& of(std::string_view channel) const {
    static const ChannelWrites kNone;
    const auto found = writes.find(channel);
    return found == writes.end() ? kNone : found->second;
  }
};

// Tells which of the writes that are stored with a checkpoint led to the one after it. The
// writes say only which step they were made in. They led to the child that this step made, if
// there is one such child, and if every task that it says has run is on record.
class StepReader {
 public:
  // How many Sends waited at a checkpoint, if that is known.
  using CountSends = std::function<std::optional<std::size_t>(const KnownCheckpoint&)>;

  StepReader(const std::vector<KnownCheckpoint>& checkpoints, CountSends count_sends)
      : count_sends_(std::move(count_sends)) {
    for (const KnownCheckpoint& checkpoint : checkpoints) {
      // One that cannot be read may be such a child, too.
      const bool may_be_loop = checkpoint.source() == "loop" || checkpoint.source().empty();
      if (may_be_loop) ++loop_children_[checkpoint.parent_id];
    }
  }

  // `record` is that of its parent.
  Step step_to(const KnownCheckpoint& checkpoint, const Record& record) const {
    if (checkpoint.source() == "input") return input(checkpoint, record);
    if (!checkpoint.parent || !record.is_complete) return {};
    if (!checkpoint.is_step_after(*checkpoint.parent)) return {};  // it stands for several steps
    if (checkpoint.source() == "loop") return loop(checkpoint, record);
    if (checkpoint.source() == "update") return update(checkpoint, record);
    return {};
  }

 private:
  static bool is_on_record_for_update(const RecordedWrite& recorded) {
    return recorded.has_path(kUpdate) || recorded.write.channel == kStart;
  }

  // It writes to __start__ only.
  static Step input(const KnownCheckpoint& checkpoint, const Record& record) {
    const bool is_command = std::ranges::any_of(record.writes, [](const RecordedWrite& recorded) {
      return recorded.write.task_id == kCommandTask;
    });
    const bool is_first = checkpoint.metadata["step"] == Value(-1);
    const bool has_parent = checkpoint.parent && record.is_complete;
    return {.is_certain = !is_command && (has_parent || is_first)};
  }

  Step loop(const KnownCheckpoint& checkpoint, const Record& record) const {
    const bool is_of_update = std::ranges::any_of(record.writes, is_on_record_for_update);
    if (is_of_update || loop_children_.at(checkpoint.parent_id) != 1) return {};
    if (!has_all_tasks(checkpoint, record) || may_be_repeated(checkpoint, record)) return {};
    if (!came_with(checkpoint, record)) return {};
    return step_of(checkpoint, record.writes);
  }

  // A run from an update or a fork may repeat a step that was refused before; what its tasks wrote
  // then stays on record.
  static bool may_be_repeated(const KnownCheckpoint& checkpoint, const Record& record) {
    const std::string_view source = checkpoint.parent->source();
    if (source != "update" && source != "fork") return false;
    return std::ranges::any_of(record.writes, [&](const RecordedWrite& recorded) {
      return recorded.stored_at != checkpoint.stored_at;
    });
  }

  // What the last task of a step writes is stored with the checkpoint, or just before. If all
  // is older, it may have led to a child that was deleted. Of copied threads no time tells.
  static bool came_with(const KnownCheckpoint& checkpoint, const Record& record) {
    if (record.writes.empty() || !are_close(checkpoint.made_at, checkpoint.stored_at)) {
      return true;
    }
    return std::ranges::any_of(record.writes, [&](const RecordedWrite& recorded) {
      return are_close(recorded.stored_at, checkpoint.stored_at);
    });
  }

  // An update is stored with its checkpoint. Others on record are of one that was refused, or of
  // tasks whose place it took: then some of its own writes may be missing.
  static Step update(const KnownCheckpoint& checkpoint, const Record& record) {
    std::vector<RecordedWrite> writes;
    for (const RecordedWrite& recorded : record.writes) {
      if (recorded.write.task_id == kCommandTask) continue;
      if (!recorded.has_path(kUpdate) || recorded.stored_at != checkpoint.stored_at) return {};
      writes.push_back(recorded);
    }
    if (writes.empty()) return {};
    return step_of(checkpoint, writes);
  }

  // What a step writes to has a new version after it. Joins may know already what is written.
  static Step step_of(const KnownCheckpoint& checkpoint, std::span<const RecordedWrite> writes) {
    Step step{.is_certain = true, .ends = true};
    if (!explain(writes, checkpoint.content["updated_channels"])) return {};
    for (const auto& [write, stored_at] : writes) {
      const auto version = checkpoint.version(write.channel);
      if (is_trigger(write.channel) || !version) continue;  // or no channel, or never stored
      if (!checkpoint.has_moved(write.channel) && !write.channel.starts_with(kJoin)) return {};
      ChannelWrites& of_channel = step.writes[write.channel];
      const bool is_command = write.task_id == kCommandTask;
      (is_command ? of_channel.by_command : of_channel.by_tasks).push_back(write.value);
    }
    for (auto [node, seen] : checkpoint.content["versions_seen"].items()) {
      const Value& before = checkpoint.parent->content["versions_seen"][node];
      for (auto [channel, version] : seen.items()) {
        if (channel.starts_with(kJoin) && version != before[channel])
          step.writes[std::string(channel)].is_consumed = true;
      }
    }
    return step;
  }

  // Whether all these channels were written to. What waits for other nodes can change by itself.
  static bool explain(std::span<const RecordedWrite> writes, const Value& updated_channels) {
    if (!updated_channels.is_list()) return true;
    std::set<std::string_view> written;
    for (const RecordedWrite& recorded : writes) written.insert(recorded.write.channel);
    return std::all_of(updated_channels.begin(), updated_channels.end(), [&](const Value& name) {
      if (!name.is_string()) return false;
      const std::string_view channel = name.as_string();
      return is_trigger(channel) || channel.starts_with(kJoin) || written.contains(channel);
    });
  }

  bool has_all_tasks(const KnownCheckpoint& checkpoint, const Record& record) const {
    for (auto [node, seen] : checkpoint.content["versions_seen"].items()) {
      if (node.starts_with("__") && node != kStart) continue;
      if (seen.empty() || seen == checkpoint.parent->content["versions_seen"][node]) continue;
      const bool is_there = std::ranges::any_of(
          record.writes,
          [node = node](const RecordedWrite& recorded) { return recorded.is_of_node(node); });
      if (!is_there) return false;
    }
    std::set<std::string_view> sends;
    for (const RecordedWrite& recorded : record.writes) {
      if (recorded.has_path(kPush) && !recorded.has_path(kCall))
        sends.insert(recorded.write.task_id);
    }
    return count_sends_(*checkpoint.parent) == sends.size();
  }

  CountSends count_sends_;
  std::map<std::string, int> loop_children_;  // how many a checkpoint has
};

// A channel -------------------------------------------------------------------------

// What the kinds that a channel may be of make of the writes to it.
class ChannelHistory {
 public:
  using Contents = std::map<std::string, Content, std::less<>>;  // by version

  explicit ChannelHistory(std::vector<ChannelKind> kinds) {
    for (ChannelKind& kind : kinds) hypotheses_.push_back({std::move(kind)});
  }

  // Of all that was ever written to it, which tells what it is for.
  void note_write(const Value& write) {
    const Value* replacement = overwritten(write);
    const Value& value = replacement ? *replacement : write;
    holds_lists_ = holds_lists_ && value.is_list();
    if (!value.is_list()) return note_element(value);
    for (const Value& element : value) note_element(element);
  }

  bool knows(std::string_view version) const { return versions_.contains(version); }

  // The channel was left alone by a step that ended.
  void stay(std::string_view version) {
    for (Hypothesis& hypothesis : hypotheses_) {
      const Content held = hypothesis.at(version);
      if (hypothesis.kind.is_join() || !held.is_known) continue;
      if (hypothesis.kind.changes(held.value, {})) hypothesis.is_out = true;
    }
  }

  // `stored` is what the file has of the new version, if it can be read.
  void move(const std::optional<std::string>& before, bool is_first, const std::string& version,
            const Step& step, std::string_view channel, const Content& stored) {
    versions_.insert(version);
    for (Hypothesis& hypothesis : hypotheses_) {
      Content after;
      if (step.is_certain && !hypothesis.is_out) {
        const Content held =
            before ? hypothesis.at(*before) : Content{is_first, {}, hypothesis.kind.has_reducer()};
        after = hypothesis.play(held, before.has_value(), step, channel);
      }
      if (stored.is_known) {
        if (after.is_known && !is_same(after.value, stored.value)) hypothesis.is_out = true;
        after = stored;
      }
      hypothesis.contents.insert_or_assign(version, std::move(after));
    }
  }

  // The same for a version whose content is known without any kind.
  void set(const std::string& version, const Content& content) {
    versions_.insert(version);
    for (Hypothesis& hypothesis : hypotheses_) hypothesis.contents[version] = content;
  }

  // The version is stored as a difference.
  void meet_difference(std::string_view base, const std::string& version, const Value& patch) {
    for (Hypothesis& hypothesis : hypotheses_) {
      const Content held = hypothesis.at(base);
      if (!held.is_known || !held.value) continue;
      Content& content = hypothesis.contents[version];
      try {
        Content patched = Content::of(apply_patch(*held.value, patch), held.is_from_nothing);
        if (content.is_known && !is_same(content.value, patched.value)) hypothesis.is_out = true;
        content = std::move(patched);
      } catch (const Error&) {
        hypothesis.is_out = true;
      }
    }
  }

  // What all kinds say that are left; unknown if they do not agree.
  Content certain(std::string_view version) const {
    Content content = agreed(version, [&](const ChannelKind& kind) { return may_be(kind); });
    return content.is_from_nothing ? Content() : content;
  }

  // The same, of what is usual: channels begin empty and, unless their reducer is known, are no
  // topics, lists are appended to, and messages merged.
  Content assumed(std::string_view version, bool is_named) const {
    return agreed(version, [&](const ChannelKind& kind) { return is_named || is_usual(kind); });
  }

 private:
  struct Hypothesis {
    ChannelKind kind;
    bool is_out = false;
    Contents contents = {};

    Content at(std::string_view version) const {
      const auto found = contents.find(version);
      return found == contents.end() ? Content() : found->second;
    }

    Content play(Content held, bool had_version, const Step& step, std::string_view channel) {
      ChannelWrites writes = step.of(channel);
      try {
        const bool does_not_move = (held.is_known || kind.way() == ChannelKind::Way::last_value) &&
                                   !kind.changes(held.value, writes);
        if (does_not_move) {
          // The input may end what holds for one step, or not.
          is_out = is_out || step.ends;
          return {};
        }
        if (!held.is_known && !kind.forgets() && !start_anew(held, had_version, writes)) return {};
        const std::optional<Value> after = kind.after(held.value, writes);
        // A reducer that makes ids makes others each time. One that appends makes none.
        const bool is_repeatable = kind.way() == ChannelKind::Way::appends ||
                                   is_same(after, kind.after(held.value, writes));
        return is_repeatable ? Content::of(after, held.is_from_nothing) : Content();
      } catch (const std::exception&) {
        is_out = true;
        return {};
      }
    }

    // Of what was there before an Overwrite nothing is left.
    bool start_anew(Content& held, bool had_version, ChannelWrites& writes) const {
      if (!had_version || !kind.has_reducer()) return false;
      std::erase_if(writes.by_tasks, [](const Value& write) { return !overwritten(write); });
      if (writes.by_tasks.empty()) return false;
      writes.by_command.clear();
      held = Content::of(Value());
      return true;
    }
  };

  void note_element(const Value& element) {
    holds_messages_ = holds_messages_ || is_message(element);
    const bool has_role =
        element.is_object() && (element["role"].is_string() || element["type"].is_string());
    looks_like_messages_ = looks_like_messages_ || holds_messages_ || has_role;
  }

  bool may_be(const ChannelKind& kind) const {
    return looks_like_messages_ || kind.way() != ChannelKind::Way::merges_messages;
  }

  bool is_usual(const ChannelKind& kind) const {
    using Way = ChannelKind::Way;
    if (holds_messages_) return kind.way() == Way::merges_messages;
    if (kind.way() == Way::topic || kind.way() == Way::collects) return false;
    const bool joins_lists = kind.way() == Way::appends || kind.way() == Way::merges_messages;
    return may_be(kind) && (joins_lists || !holds_lists_);
  }

  template <class Predicate>
  Content agreed(std::string_view version, const Predicate& counts) const {
    Content all;
    for (const Hypothesis& hypothesis : hypotheses_) {
      if (hypothesis.is_out || !counts(hypothesis.kind)) continue;
      const Content content = hypothesis.at(version);
      if (!content.is_known) return {};
      if (all.is_known && !is_same(all.value, content.value)) return {};
      all = Content::of(content.value, all.is_from_nothing || content.is_from_nothing);
    }
    return all;
  }

  std::vector<Hypothesis> hypotheses_;
  std::set<std::string, std::less<>> versions_;
  bool holds_lists_ = true;  // and nothing else
  bool holds_messages_ = false;
  bool looks_like_messages_ = false;
};

// A namespace -----------------------------------------------------------------------

class NamespaceRecovery {
 public:
  NamespaceRecovery(Connection& connection, const Serializer& serializer,
                    const CheckpointKey& place, const RecoverOptions& options,
                    std::span<const StoredProblem> damaged, BlobRecovery& recovery)
      : connection_(connection),
        serializer_(serializer),
        place_(place),
        options_(options),
        recovery_(recovery),
        hash_(internal::namespace_hash(place.checkpoint_ns)) {
    for (const StoredProblem& problem : damaged) {
      if (problem.checkpoint_ns != place.checkpoint_ns) continue;
      damaged_.emplace(problem.channel, problem.version);
    }
  }

  void run() {
    read_checkpoints();
    find_channels();
    if (channels_.empty()) return;
    note_writes();
    follow_thread();
    for (const auto& [channel, version] : missing_) recover(channel, version);
  }

 private:
  // Oldest first.
  void read_checkpoints() {
    NativeReader reader = new_reader();
    for (Rows rows = connection_.query(
             "SELECT checkpoint_id, parent_checkpoint_id, gmt_modified, metadata_type, metadata,"
             " gmt_create"
             " FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id",
             place_.thread_id, place_.checkpoint_ns);
         rows.next();) {
      KnownCheckpoint& added = checkpoints_.emplace_back();
      added.id = rows.text(0);
      added.parent_id = rows.text(1);
      added.stored_at = rows.text(2);
      added.made_at = rows.text(5);
      try {
        added.content = reader.checkpoint(added.id).value();
        added.metadata = decode_metadata(serializer_, rows.text(3), rows.text(4));
      } catch (const Error&) {
        // Nothing is made again of what is damaged itself.
      }
    }
    std::map<std::string_view, const KnownCheckpoint*> by_id;
    for (const KnownCheckpoint& checkpoint : checkpoints_) by_id[checkpoint.id] = &checkpoint;
    for (KnownCheckpoint& checkpoint : checkpoints_) {
      const auto parent = by_id.find(checkpoint.parent_id);
      if (parent != by_id.end()) checkpoint.parent = parent->second;
      for (auto [channel, count] : checkpoint.metadata[kDeltaCounters].items()) {
        delta_channels_.emplace(channel);
      }
    }
  }

  // Those that miss something, and the Sends, which tell how many tasks there were.
  void find_channels() {
    for (const auto& [channel, version] : damaged_) add_channel(channel);
    for (const KnownCheckpoint& checkpoint : checkpoints_) {
      for (auto [channel, version] : checkpoint.content["channel_versions"].items()) {
        if (is_trigger(channel) || channels_.contains(channel)) continue;
        if (!is_stored(channel, version_text(version).as_string())) add_channel(channel);
      }
    }
    if (!channels_.empty()) add_channel(kTasks);
  }

  void add_channel(std::string_view channel) {
    channels_.try_emplace(std::string(channel), kinds_of(channel));
  }

  std::vector<ChannelKind> kinds_of(std::string_view channel) const {
    using Way = ChannelKind::Way;
    if (channel == kTasks) return {ChannelKind(Way::topic)};
    if (channel == kStart || delta_channels_.contains(channel)) return {ChannelKind(Way::one_step)};
    if (channel == "__previous__" || channel == "__end__") return {ChannelKind(Way::last_value)};
    if (channel.starts_with(kJoin)) return join_kinds(channel);
    const auto named = options_.reducers.find(std::string(channel));
    return named == options_.reducers.end() ? all_kinds() : named_kinds(named->second);
  }

  bool is_stored(std::string_view channel, std::string_view version) {
    return connection_
        .value(
            "SELECT 1 FROM clew_blobs WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ?"
            " AND version = ?",
            place_.thread_id, place_.checkpoint_ns, channel, version)
        .has_value();
  }

  // A new one each time: what an older one remembers may have been missing then.
  NativeReader new_reader() {
    return {connection_, serializer_, place_.thread_id, place_.checkpoint_ns};
  }

  // Unknown if it is missing or cannot be read.
  Content stored(NativeReader& reader, std::string_view channel, const std::string& version) {
    if (damaged_.contains({std::string(channel), version})) return {};
    if (!is_stored(channel, version)) return {};
    try {
      const VersionChain& chain = reader.value(channel, Value(version), {});
      return Content::of(chain.empty() ? std::nullopt : std::optional(chain.value()));
    } catch (const Error&) {
      return {};
    }
  }

  // What is written with a checkpoint -------------------------------------------------

  Record record_of(std::string_view checkpoint_id) {
    Record record;
    std::map<std::string, std::int64_t> places;  // how many are taken, by task
    for (Rows rows = connection_.query(
             "SELECT task_id, idx, channel, type, blob_data, task_path, node, gmt_create"
             " FROM clew_writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
             " ORDER BY task_path, task_id, idx",
             place_.thread_id, place_.checkpoint_ns, checkpoint_id);
         rows.next();) {
      // Questions and answers, which come first, have left theirs.
      if (rows.integer(1) > places[std::string(rows.text(0))]++) record.is_complete = false;
      if (rows.integer(1) < 0) continue;
      RecordedWrite& added = record.writes.emplace_back();
      added.write = {.task_id = std::string(rows.text(0)),
                     .channel = std::string(rows.text(2)),
                     .value = {},
                     .task_path = std::string(rows.text(5)),
                     .node = std::string(rows.text(6))};
      added.stored_at = rows.text(7);
      try {
        added.write.value = serializer_.loads_typed(rows.text(3), rows.text(4));
      } catch (const Error&) {
        record.is_complete = false;
      }
    }
    return record;
  }

  void note_writes() {
    for (const KnownCheckpoint& checkpoint : checkpoints_) {
      for (const auto& [write, stored_at] : record_of(checkpoint.id).writes) {
        const auto channel = channels_.find(write.channel);
        if (channel != channels_.end()) channel->second.note_write(write.value);
      }
    }
  }

  // Following the thread --------------------------------------------------------------

  void follow_thread() {
    NativeReader reader = new_reader();
    const StepReader steps(checkpoints_,
                           [this](const KnownCheckpoint& at) { return sends_at(at); });
    for (const KnownCheckpoint& checkpoint : checkpoints_) {
      const Record record = checkpoint.parent ? record_of(checkpoint.parent_id) : Record();
      const Step step = steps.step_to(checkpoint, record);
      for (auto& [channel, history] : channels_) {
        const auto version = checkpoint.version(channel);
        if (!version) continue;
        const auto before = checkpoint.parent ? checkpoint.parent->version(channel) : std::nullopt;
        if (version == before) {
          if (step.is_certain && step.ends) history.stay(*version);
        } else if (!history.knows(*version)) {
          follow(reader, checkpoint, step, record, channel, *version);
        }
      }
    }
  }

  void follow(NativeReader& reader, const KnownCheckpoint& checkpoint, const Step& step,
              const Record& record, const std::string& channel, const std::string& version) {
    ChannelHistory& history = channels_.at(channel);
    const Content found = stored(reader, channel, version);
    if (!found.is_known) missing_.emplace_back(channel, version);
    if (found.is_known && channel == kStart) return history.set(version, found);
    if (channel == kStart) return history.set(version, start_at(checkpoint, record, version));
    if (delta_channels_.contains(channel)) {
      return history.set(version, found.is_known ? found : delta_at(checkpoint, channel));
    }
    const bool is_first = !checkpoint.parent ? checkpoint.parent_id.empty() && step.is_certain
                                             : !checkpoint.parent->content.empty();
    const auto before = checkpoint.parent ? checkpoint.parent->version(channel) : std::nullopt;
    history.move(before, is_first, version, step, channel, found);
    if (!found.is_known) meet_difference(history, channel, version);
  }

  void meet_difference(ChannelHistory& history, const std::string& channel,
                       const std::string& version) {
    Rows rows = connection_.query(
        "SELECT base_version, type, blob_data FROM clew_blobs WHERE thread_id = ?"
        " AND checkpoint_ns = ? AND channel = ? AND version = ? AND base_version IS NOT NULL",
        place_.thread_id, place_.checkpoint_ns, channel, version);
    if (!rows.next() || damaged_.contains({channel, version})) return;
    try {
      const Value patch = serializer_.loads_typed(rows.text(1), rows.text(2));
      history.meet_difference(rows.text(0), version, patch);
    } catch (const Error&) {
      // Its own bytes are damaged.
    }
  }

  std::optional<std::size_t> sends_at(const KnownCheckpoint& checkpoint) const {
    const auto version = checkpoint.version(kTasks);
    if (!version) return checkpoint.content.empty() ? std::nullopt : std::optional<std::size_t>(0);
    const Content content = channels_.find(kTasks)->second.certain(*version);
    if (!content.is_known) return std::nullopt;
    return content.value ? content.value->size() : 0;
  }

  // Delta channels hold nothing but now and then a snapshot, after which counting starts anew.
  static Content delta_at(const KnownCheckpoint& checkpoint, std::string_view channel) {
    if (!checkpoint.metadata[kDeltaCounters].contains(channel)) return {};
    return Content::of(std::nullopt);
  }

  // The input is gone after the first step. An update that was made as input has it on record.
  Content start_at(const KnownCheckpoint& checkpoint, const Record& record,
                   const std::string& version) {
    if (checkpoint.source() == "loop" || checkpoint.source() == "update") {
      const bool is_over = checkpoint.parent && checkpoint.parent->version(kStart);
      return is_over ? Content::of(std::nullopt) : Content();
    }
    if (checkpoint.source() != "input") return {};
    for (const auto& [write, stored_at] : record.writes) {
      const bool is_update = write.channel == kStart && stored_at == checkpoint.stored_at;
      if (is_update && record.is_complete) return Content::of(write.value);
    }
    const bool is_root = place_.checkpoint_ns.empty();
    if (!is_root || !options_.assumes_the_usual) return {};
    Content input = input_of_first_step(checkpoint);
    if (input.is_known) assumed_.emplace(kStart, version);
    return input;
  }

  // The input of a run is what its first step wrote, apart from what is no channel. A graph
  // inside has its input from the one around it, with channels that it does not know.
  Content input_of_first_step(const KnownCheckpoint& checkpoint) {
    const Record record = record_of(checkpoint.id);
    if (!record.is_complete) return {};
    Value input = object();
    for (const RecordedWrite& recorded : record.writes) {
      const PendingWrite& write = recorded.write;
      if (!recorded.is_of_node(kStart) || is_trigger(write.channel)) continue;
      if (write.channel == kRoot) return Content::of(write.value);
      const bool is_other = write.channel.starts_with("__") || write.channel.starts_with(kJoin);
      // A Command has written its updates before.
      const bool is_command = checkpoint.has_moved(write.channel);
      // Ids are given to the messages in writes to delta channels.
      if (is_other || is_command || delta_channels_.contains(write.channel)) return {};
      input = input.set(write.channel, write.value);
    }
    return input.empty() ? Content() : Content::of(input);
  }

  // Storing -----------------------------------------------------------------------------

  void recover(const std::string& channel, const std::string& version) {
    NativeReader reader = new_reader();
    // It may be a difference from what was made again just now.
    if (stored(reader, channel, version).is_known) return;
    const ChannelHistory& history = channels_.find(channel)->second;
    Content content = history.certain(version);
    bool is_assumed = assumed_.contains({channel, version});
    if (!content.is_known && options_.assumes_the_usual) {
      content = history.assumed(version, options_.reducers.contains(channel));
      is_assumed = true;
    }
    const std::string text = channel + " " + version;
    if (!content.is_known) {
      recovery_.lost.push_back(text);
      return;
    }
    store(channel, version, content);
    if (is_assumed) recovery_.assumed.push_back(text);
    ++recovery_.recovered;
  }

  void store(std::string_view channel, const std::string& version, const Content& content) {
    TypedBytes data{std::string(kEmptyType), {}};
    if (content.value) data = serializer_.dumps_typed(*content.value);
    connection_.run(
        "INSERT OR REPLACE INTO clew_blobs (thread_id, checkpoint_ns, checkpoint_ns_hash,"
        " channel, version, type, blob_data) VALUES (?, ?, ?, ?, ?, ?, ?)",
        place_.thread_id, place_.checkpoint_ns, hash_, channel, version, data.tag,
        Blob{data.bytes});
    damaged_.erase({std::string(channel), version});
  }

  Connection& connection_;
  const Serializer& serializer_;
  const CheckpointKey& place_;
  const RecoverOptions& options_;
  BlobRecovery& recovery_;
  const std::string hash_;
  std::vector<KnownCheckpoint> checkpoints_;
  std::set<std::string, std::less<>> delta_channels_;
  std::map<std::string, ChannelHistory, std::less<>> channels_;
  // Channel and version.
  std::set<std::pair<std::string, std::string>> damaged_;
  std::set<std::pair<std::string, std::string>> assumed_;
  std::vector<std::pair<std::string, std::string>> missing_;  // oldest first
};

}  // namespace

BlobRecovery NativeLayout::recover_blobs(Connection& connection, const std::string& thread_id,
                                         const RecoverOptions& options) {
  const BlobRecovery recovery = recover_values(connection, thread_id, options, {});
  recount(connection, thread_id);
  return recovery;
}

BlobRecovery NativeLayout::recover_values(Connection& connection, const std::string& thread_id,
                                          const RecoverOptions& options,
                                          std::span<const StoredProblem> damaged) {
  BlobRecovery recovery;
  for (const std::string& ns : namespaces_of(connection, thread_id)) {
    const CheckpointKey place{thread_id, ns};
    unpack_namespace(connection, place);
    NamespaceRecovery(connection, *serializer_, place, options, damaged, recovery).run();
  }
  cache_.forget_thread(thread_id);
  return recovery;
}

}  // namespace clew::sqlite
