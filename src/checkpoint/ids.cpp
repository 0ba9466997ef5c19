#include <clew/ids.hpp>

#include <clew/error.hpp>

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <time.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "value/float_text.hpp"
#include "value/random.hpp"
#include "value/sha1.hpp"

namespace clew {
namespace {

constexpr std::string_view kPull = "__pregel_pull";
constexpr std::string_view kPush = "__pregel_push";
constexpr std::string_view kErrorHandler = "node_error_handler";
constexpr std::string_view kInterrupt = "__interrupt__";
constexpr std::string_view kInput = "__input__";

// Layout version 1 still used SHA-1.
constexpr int kFirstXxh3Version = 2;

constexpr std::size_t kVersionDigits = 32;
constexpr std::size_t kVersionTailWidth = 16;

std::int64_t system_unix_ns() {
  // clock_gettime is answered in user space, unlike a system call.
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// printf's "%0<width>d": the sign counts as one of the digits.
std::string padded(std::int64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  if (text.size() < width) text.insert(sign, width - text.size(), '0');
  return text;
}

std::string padded_hex(std::int64_t number, std::size_t width) {
  char digits[16];
  const auto result = std::to_chars(digits, digits + sizeof digits, number, 16);
  std::string text(digits, result.ptr);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

Uuid::Bytes xxh3_128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Uuid::Bytes result;
  std::copy_n(canonical.digest, result.size(), result.begin());
  return result;
}

}  // namespace

// ---- Checkpoint ids

CheckpointIds::CheckpointIds() : CheckpointIds(system_unix_ns, internal::random_bits) {}

CheckpointIds::CheckpointIds(Clock clock, Random random)
    : clock_(std::move(clock)), random_(std::move(random)) {}

Uuid CheckpointIds::next(std::int64_t step) {
  std::uint64_t last = last_ticks_.load(std::memory_order_relaxed);
  const std::uint64_t now = uuid_ticks(clock_());
  std::uint64_t ticks;
  do {
    ticks = std::max(now, last + 1);
  } while (!last_ticks_.compare_exchange_weak(last, ticks, std::memory_order_relaxed));
  return uuid6(ticks, random_(), step);
}

std::string checkpoint_id(std::int64_t step) {
  // Never destroyed: threads may still run while the process exits.
  static CheckpointIds& ids = *new CheckpointIds;
  return ids.next(step).to_string();
}

// ---- Channel versions

namespace {

[[noreturn]] void refuse_version(std::string_view current, const char* reason) {
  throw ValueError("channel version '" + std::string(current.substr(0, 80)) + "' " + reason);
}

// `current` plus one, padded. Python's integers have no limit, so the text is
// counted up rather than converted to a machine word that might overflow.
std::string next_version_number(std::string_view current) {
  std::string digits;
  digits.reserve(kVersionDigits + 24);
  std::string_view number = current.substr(0, current.find('.'));
  if (number.empty() && !current.empty()) refuse_version(current, "has no number before the dot");
  if (!std::all_of(number.begin(), number.end(), is_digit)) {
    refuse_version(current, "does not start with a decimal number; was it written by this saver?");
  }
  // One that a saver made has its width already.
  while (number.size() > kVersionDigits && number.front() == '0') number.remove_prefix(1);
  if (number.size() > kVersionDigits) refuse_version(current, "has more than 32 digits");
  digits.assign(kVersionDigits - number.size(), '0');
  digits.append(number);

  auto digit = digits.rbegin();
  while (digit != digits.rend() && *digit == '9') *digit++ = '0';
  if (digit == digits.rend()) refuse_version(current, "is the last one of 32 digits");
  ++*digit;
  return digits;
}

}  // namespace

std::string next_version(std::string_view current) {
  // As if from a random number of exactly 16 digits, which are cheaper to make
  // than the shortest text of a double.
  constexpr std::uint64_t kTails = 10'000'000'000'000'000;
  std::string version = next_version_number(current);
  version.append(".0.0000000000000000");
  std::uint64_t tail = internal::random_bits() % kTails;
  for (std::size_t i = version.size(); tail != 0; tail /= 10) {
    version[--i] = static_cast<char>('0' + tail % 10);
  }
  return version;
}

std::string next_version(std::string_view current, double random) {
  if (!(random >= 0.0 && random < 1.0)) {
    throw ValueError("the random part of a channel version must be at least 0 and less than 1");
  }
  char tail[internal::kFloatTextSize];
  const std::size_t size = internal::write_float(random, tail);

  std::string version = next_version_number(current);
  version.reserve(kVersionDigits + 1 + std::max(size, kVersionTailWidth));
  version += '.';
  if (size < kVersionTailWidth) version.append(kVersionTailWidth - size, '0');
  version.append(tail, size);
  return version;
}

std::int64_t next_integer_version(std::int64_t current) {
  if (current < 0) throw ValueError("channel version " + std::to_string(current) + " is negative");
  if (current == std::numeric_limits<std::int64_t>::max()) {
    throw ValueError("channel version " + std::to_string(current) + " is the last one");
  }
  return current + 1;
}

// ---- Task paths

TaskPath TaskPath::pull(std::string_view node) { return of(kPull, node); }

TaskPath TaskPath::push(std::int64_t index) { return of(kPush, index, false); }

TaskPath TaskPath::call(const TaskPath& parent, std::int64_t index) {
  return of(kPush, parent, index, true);
}

TaskPath TaskPath::error_handler(const TaskPath& failed) {
  constexpr std::size_t kKept = 3;
  TaskPath path;
  const std::size_t kept = std::min(failed.elements_.size(), kKept);
  path.elements_.assign(failed.elements_.begin(),
                        failed.elements_.begin() + static_cast<std::ptrdiff_t>(kept));
  path.append(kErrorHandler);
  path.append(false);
  return path;
}

TaskPath TaskPath::update(std::int64_t index) { return of(kInterrupt, index); }

void TaskPath::append(std::string_view text) { elements_.emplace_back(std::string(text)); }

void TaskPath::append(TaskPath path) { elements_.emplace_back(std::move(path)); }

void TaskPath::append_bool(bool flag) { elements_.emplace_back(flag); }

void TaskPath::append_integer(std::int64_t number) { elements_.emplace_back(number); }

std::span<const TaskPath::Element> TaskPath::elements() const noexcept { return elements_; }

bool operator==(const TaskPath& a, const TaskPath& b) { return a.elements_ == b.elements_; }

namespace {

constexpr std::size_t kPathNumberWidth = 10;

struct PathWriter {
  std::string& out;

  void operator()(const std::string& text) const { out += text; }
  void operator()(std::int64_t number) const { out += padded(number, kPathNumberWidth); }
  void operator()(bool flag) const { (*this)(std::int64_t{flag}); }
  void operator()(const TaskPath& path) const {
    out += '~';
    bool first = true;
    for (const TaskPath::Element& element : path.elements()) {
      if (!first) out += ", ";
      first = false;
      std::visit(*this, element);
    }
  }
};

}  // namespace

std::string task_path_str(const TaskPath& path) {
  std::string text;
  PathWriter{text}(path);
  return text;
}

std::string push_task_path_str(std::int64_t index) {
  std::string text = "~";
  text.reserve(48);
  text += kPush;
  text += ", ";
  text += padded(index, kPathNumberWidth);
  text += ", ";
  text += padded(0, kPathNumberWidth);
  return text;
}

// ---- Task ids

namespace {

void append_node_ns(std::string& text, std::string_view parent_ns, std::string_view node) {
  text += parent_ns;
  if (!parent_ns.empty()) text += '|';
  text += node;
}

// The id is a hash of the checkpoint and of what tells the task apart in it.
std::string hashed_task_id(std::string_view input, int checkpoint_v) {
  return Uuid(checkpoint_v >= kFirstXxh3Version ? xxh3_128(input) : internal::truncated_sha1(input))
      .to_string();
}

// Every task's parts start alike; `kind_parts` tell the kinds apart.
template <class Parts>
std::string origin_task_id(const TaskOrigin& origin, std::string_view node, std::string_view kind,
                           const Parts& kind_parts) {
  const Uuid::Bytes& checkpoint = origin.checkpoint_id.bytes();
  thread_local std::string input;  // keeps its memory: every task of a step has an id
  input.assign(checkpoint.begin(), checkpoint.end());
  append_node_ns(input, origin.parent_ns, node);
  char step[20];
  input.append(step, std::to_chars(step, std::end(step), origin.step).ptr);
  input += node;
  input += kind;
  for (std::string_view part : kind_parts) input += part;
  return hashed_task_id(input, origin.checkpoint_v);
}

}  // namespace

std::string pull_task_id(const TaskOrigin& origin, std::string_view node,
                         std::span<const std::string> triggers) {
  if (std::is_sorted(triggers.begin(), triggers.end())) {
    return origin_task_id(origin, node, kPull, triggers);
  }
  std::vector<std::string_view> sorted(triggers.begin(), triggers.end());
  std::sort(sorted.begin(), sorted.end());
  return origin_task_id(origin, node, kPull, sorted);
}

std::string push_task_id(const TaskOrigin& origin, std::string_view node, std::int64_t index) {
  const std::string index_text = std::to_string(index);
  const std::string_view parts[] = {index_text};
  return origin_task_id(origin, node, kPush, parts);
}

std::string call_task_id(const TaskOrigin& origin, std::string_view function,
                         const TaskPath& parent_path, std::int64_t index) {
  const std::string path = task_path_str(parent_path);
  const std::string index_text = std::to_string(index);
  const std::string_view parts[] = {path, index_text};
  return origin_task_id(origin, function, kPush, parts);
}

std::string error_handler_task_id(const TaskOrigin& origin, std::string_view handler,
                                  std::string_view failed_task_id) {
  const std::string_view parts[] = {kErrorHandler, failed_task_id};
  return origin_task_id(origin, handler, kPush, parts);
}

std::string task_id(const Uuid& checkpoint_id, std::span<const std::string_view> parts,
                    int checkpoint_v) {
  std::string input(checkpoint_id.bytes().begin(), checkpoint_id.bytes().end());
  for (std::string_view part : parts) input += part;
  return hashed_task_id(input, checkpoint_v);
}

std::string task_checkpoint_ns(std::string_view parent_ns, std::string_view node,
                               std::string_view task_id) {
  std::string ns;
  ns.reserve(parent_ns.size() + node.size() + task_id.size() + 2);
  append_node_ns(ns, parent_ns, node);
  ns += ':';
  ns += task_id;
  return ns;
}

std::string update_task_id(const Uuid& checkpoint_id, std::int64_t index) {
  std::string name(kInterrupt);
  if (index != 0) name += ":" + std::to_string(index);
  return uuid5(checkpoint_id, name).to_string();
}

std::string input_writes_id(const Uuid& checkpoint_id) {
  return uuid5(checkpoint_id, kInput).to_string();
}

namespace {

constexpr std::size_t kFirstGroup = 8;
constexpr std::size_t kLastTwoGroups = 18;

std::string_view checked_task_id(std::string_view task_id) {
  if (task_id.size() != Uuid::kTextSize) {
    throw ValueError("task id '" + std::string(task_id.substr(0, 80)) +
                     "' is not a UUID with dashes");
  }
  return task_id;
}

}  // namespace

std::string exit_delta_task_id(std::int64_t step, std::string_view task_id) {
  // The null task at step 0 would keep its own id and hide its real writes.
  if (step == 0 && task_id == kNullTaskId) return "00000000-0000-0000-0000-000000000001";
  std::string id = padded(step, kFirstGroup);
  id += checked_task_id(task_id).substr(kFirstGroup);
  return id;
}

std::string exit_delta_late_task_id(std::int64_t step, std::string_view task_id) {
  if (step < 0) {
    throw ValueError("step " + std::to_string(step) + " cannot be later than the first of a run");
  }
  std::string id = "ffffffff-" + padded_hex(step >> 16, 4) + "-" + padded_hex(step & 0xFFFF, 4);
  id += checked_task_id(task_id).substr(kLastTwoGroups);
  return id;
}

std::string exit_delta_late_task_path(std::int64_t step, std::string_view task_path) {
  std::string path = "~~" + padded(step, kPathNumberWidth);
  path += task_path;
  return path;
}

// ---- Interrupt ids

std::string interrupt_id(std::string_view task_ns, std::int64_t answered) {
  if (answered == 0) return xxh3_128_hex(task_ns);
  std::string name(task_ns);
  name += '|';
  name += std::to_string(answered);
  return xxh3_128_hex(name);
}

std::string legacy_interrupt_id(std::span<const std::string> ns) {
  std::string joined;
  for (const std::string& segment : ns) {
    if (&segment != ns.data()) joined += '|';
    joined += segment;
  }
  return xxh3_128_hex(joined);
}

bool is_interrupt_id(std::string_view text) noexcept {
  return text.size() == 32 && std::all_of(text.begin(), text.end(), [](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'f');
         });
}

// ---- Hash

std::string xxh3_128_hex(std::string_view bytes) { return Uuid(xxh3_128(bytes)).hex(); }

}  // namespace clew
