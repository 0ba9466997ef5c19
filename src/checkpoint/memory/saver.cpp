#include <algorithm>
#include <exception>
#include <mutex>

#include <clew/errors.hpp>
#include <clew/memory_saver.hpp>

#include "checkpoint/memory/namespace.hpp"
#include "checkpoint/thread_conflict.hpp"
#include "checkpoint/thread_query.hpp"
#include "value/text_hash.hpp"

namespace clew {

namespace {

// More than there are cores, so that runs on different threads seldom meet.
constexpr std::size_t kShards = 64;

struct Thread {
  internal::ByText<memory::Namespace> namespaces;
  std::size_t namespaces_made = 0;

  memory::Namespace* find(std::string_view ns) {
    const auto entry = namespaces.find(ns);
    return entry == namespaces.end() ? nullptr : &entry->second;
  }

  memory::Namespace& find_or_make(const std::string& ns) {
    const auto [entry, is_new] = namespaces.try_emplace(ns, namespaces_made);
    if (is_new) ++namespaces_made;
    return entry->second;
  }

  std::size_t checkpoint_count() const {
    std::size_t count = 0;
    for (const auto& [name, ns] : namespaces) count += ns.checkpoint_count();
    return count;
  }
};

// Prunes the root and drops the namespaces of calls that removed checkpoints
// made. A call may be saved before the root checkpoint it comes from; then it stays.
void prune_root(Thread& thread, memory::Namespace& root, const PruneOptions& options) {
  std::vector<std::pair<std::string, std::string>> calls;  // namespace, root checkpoint
  for (const auto& [name, ns] : thread.namespaces) {
    const memory::Record* newest = ns.newest();
    if (!newest) continue;
    std::string caller = internal::calling_root(name, newest->metadata);
    if (root.find(caller)) calls.emplace_back(name, std::move(caller));
  }
  root.prune(options);
  for (const auto& [name, caller] : calls) {
    if (!root.find(caller)) thread.namespaces.erase(name);
  }
}

ThreadInfo describe(const std::string& thread_id, Thread& thread) {
  ThreadInfo info;
  info.thread_id = thread_id;
  info.checkpoints = thread.checkpoint_count();
  memory::Namespace* root = thread.find("");
  if (memory::Record* newest = root ? root->newest() : nullptr) {
    info.checkpoint_id = root->head();
    info.updated_at = newest->ts;
    info.metadata = newest->metadata;
    info.status = internal::status_of(newest->writes.list());
  }
  return info;
}

}  // namespace

struct alignas(64) InMemorySaver::Shard {
  std::mutex mutex;
  internal::ByText<Thread> threads;

  Thread* find(std::string_view thread_id) {
    const auto entry = threads.find(thread_id);
    return entry == threads.end() ? nullptr : &entry->second;
  }

  memory::Namespace* find(const CheckpointKey& key) {
    Thread* thread = find(key.thread_id);
    return thread ? thread->find(key.checkpoint_ns) : nullptr;
  }

  memory::Namespace& find_or_make(const CheckpointKey& key) {
    return threads.try_emplace(key.thread_id).first->second.find_or_make(key.checkpoint_ns);
  }

  void put(const CheckpointPut& put) {
    const std::scoped_lock lock(mutex);
    if (put.expected_head) {
      memory::Namespace* ns = find(put.key);
      const std::string_view head = ns ? ns->head() : std::string_view();
      internal::expect_head(put, head);
      if (put.expected_writes) internal::expect_writes(put, ns ? ns->count_writes(head) : 0);
    }
    for (const WritesPut& writes : put.writes) find_or_make(writes.key).put_writes(writes);
    find_or_make(put.key).put(put);
  }
};

InMemorySaver::InMemorySaver() : shards_(std::make_unique<Shard[]>(kShards)) {}

InMemorySaver::~InMemorySaver() = default;

InMemorySaver::Shard& InMemorySaver::shard_of(std::string_view thread_id) const {
  return shards_[internal::TextHash()(thread_id) % kShards];
}

std::optional<CheckpointTuple> InMemorySaver::get_tuple(const CheckpointKey& key) {
  Shard& shard = shard_of(key.thread_id);
  const std::scoped_lock lock(shard.mutex);
  memory::Namespace* ns = shard.find(key);
  return ns ? ns->get(key) : std::nullopt;
}

std::vector<CheckpointTuple> InMemorySaver::list(std::string_view thread_id,
                                                 std::optional<std::string_view> checkpoint_ns,
                                                 const ListOptions& options) {
  std::vector<CheckpointTuple> found;
  Shard& shard = shard_of(thread_id);
  const std::scoped_lock lock(shard.mutex);
  Thread* thread = shard.find(thread_id);
  if (!thread) return found;

  std::vector<std::pair<const std::string*, memory::Namespace*>> places;
  for (auto& [name, ns] : thread->namespaces) {
    if (!checkpoint_ns || *checkpoint_ns == name) places.emplace_back(&name, &ns);
  }
  std::ranges::sort(places, {}, [](const auto& place) { return place.second->ordinal(); });
  for (const auto& [name, ns] : places) {
    ns->list({std::string(thread_id), *name}, options, found);
  }
  return found;
}

void InMemorySaver::put(std::span<const CheckpointPut> puts) {
  internal::RefusedPuts refused;
  for (const CheckpointPut& put : puts) {
    refused.store(put, [&] { shard_of(put.key.thread_id).put(put); });
  }
  refused.rethrow();
}

void InMemorySaver::put_writes(std::span<const WritesPut> puts) {
  for (const WritesPut& put : puts) {
    Shard& shard = shard_of(put.key.thread_id);
    const std::scoped_lock lock(shard.mutex);
    memory::Namespace& ns = shard.find_or_make(put.key);
    const bool is_late = ns.head() > put.key.checkpoint_id;
    const auto late = is_late ? internal::late_writes(put) : nullptr;
    ns.put_writes(late ? *late : put);
  }
}

std::vector<DeltaHistory> InMemorySaver::get_delta_channel_history(
    const CheckpointKey& key, std::span<const std::string> channels) {
  Shard& shard = shard_of(key.thread_id);
  const std::scoped_lock lock(shard.mutex);
  memory::Namespace* ns = shard.find(key);
  if (!ns) return std::vector<DeltaHistory>(channels.size());
  return ns->delta_history(key.checkpoint_id, channels);
}

void InMemorySaver::delete_thread(std::string_view thread_id) { prune(thread_id, {.keep = 0}); }

void InMemorySaver::copy_thread(std::string_view source, std::string_view target) {
  std::optional<Thread> copy;
  {
    Shard& shard = shard_of(source);
    const std::scoped_lock lock(shard.mutex);
    if (const Thread* thread = shard.find(source)) copy = *thread;
  }
  if (!copy) return;
  Shard& shard = shard_of(target);
  const std::scoped_lock lock(shard.mutex);
  const bool is_new = shard.threads.try_emplace(std::string(target), std::move(*copy)).second;
  if (!is_new) internal::refuse_copy(source, target);
}

void InMemorySaver::prune(std::string_view thread_id, const PruneOptions& options) {
  Thread removed;  // destroyed after the lock is given back
  Shard& shard = shard_of(thread_id);
  const std::scoped_lock lock(shard.mutex);
  Thread* thread = shard.find(thread_id);
  memory::Namespace* root = thread ? thread->find("") : nullptr;
  internal::expect_head(thread_id, options, root ? root->head() : "");
  if (!thread) return;
  if (options.keep == 0) {
    removed = std::move(*thread);
    shard.threads.erase(shard.threads.find(thread_id));
    return;
  }
  if (root) prune_root(*thread, *root, options);
  for (auto& [name, ns] : thread->namespaces) {
    if (&ns != root) ns.prune(options);
  }
}

void InMemorySaver::delete_for_runs(std::span<const std::string> run_ids) {
  for (std::size_t i = 0; i < kShards; ++i) {
    const std::scoped_lock lock(shards_[i].mutex);
    for (auto& [thread_id, thread] : shards_[i].threads) {
      for (auto& [name, ns] : thread.namespaces) ns.delete_for_runs(run_ids);
    }
  }
}

std::vector<ThreadInfo> InMemorySaver::list_threads(const ThreadQuery& query) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < kShards; ++i) {
    const std::scoped_lock lock(shards_[i].mutex);
    for (const auto& [thread_id, thread] : shards_[i].threads) {
      if (thread_id > query.after || query.after.empty()) ids.push_back(thread_id);
    }
  }
  std::ranges::sort(ids);
  std::vector<ThreadInfo> found;
  for (const std::string& id : ids) {
    if (query.limit && found.size() >= *query.limit) break;
    Shard& shard = shard_of(id);
    const std::scoped_lock lock(shard.mutex);
    Thread* thread = shard.find(id);
    if (!thread) continue;
    ThreadInfo info = describe(id, *thread);
    if (info.checkpoints > 0 && internal::matches(info, query)) {
      found.push_back(std::move(info));
    }
  }
  return found;
}

ThreadSize InMemorySaver::thread_size(std::string_view thread_id) {
  ThreadSize total;
  Shard& shard = shard_of(thread_id);
  const std::scoped_lock lock(shard.mutex);
  Thread* thread = shard.find(thread_id);
  if (!thread) return total;
  for (auto& [name, ns] : thread->namespaces) {
    const ThreadSize size = ns.size();
    total.checkpoints += size.checkpoints;
    total.writes += size.writes;
    total.values += size.values;
    total.bytes += size.bytes;
    total.write_bytes += size.write_bytes;
    total.value_bytes += size.value_bytes;
  }
  return total;
}

}  // namespace clew
