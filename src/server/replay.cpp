#include "server/replay.hpp"

#include <algorithm>
#include <cctype>

namespace clew::server {
namespace {

constexpr std::string_view kCached = R"("__metadata__":{"cached":true}})";

// The mode of "updates|child:1f0c...".
std::string_view mode_of(std::string_view name) { return name.substr(0, name.find('|')); }

// Of subgraphs, which are not told of again if their task had finished.
bool is_lifecycle(std::string_view name) { return mode_of(name) == "lifecycle"; }

// Without what differs from attempt to attempt: its number and the time.
std::string comparable(const std::string& data) {
  std::string result;
  std::size_t begin = 0;
  const auto skip = [&](std::string_view key, auto is_part) {
    for (std::size_t at = data.find(key, begin); at != std::string::npos; at = data.find(key, at)) {
      at += key.size();
      result.append(data, begin, at - begin);
      while (at < data.size() && is_part(data[at])) ++at;
      begin = at;
    }
  };
  if (data.starts_with(R"({"step":)")) skip(R"("timestamp":")", [](char c) { return c != '"'; });
  skip(R"("run_attempt":)",
       [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return result.append(data, begin);
}

bool is_same(const Event& old, const NewEvent& event) {
  if (old.kind != event.kind || old.name != event.name) return false;
  return old.data == event.data || comparable(old.data) == comparable(event.data);
}

}  // namespace

ReplayedEvents::ReplayedEvents(std::vector<Event> told) {
  for (Event& event : told) {
    std::string source = event.source;
    by_source_[std::move(source)].push_back(std::move(event));
  }
}

std::vector<std::string> ReplayedEvents::subgraphs() const {
  std::vector<std::string> found;
  for (const auto& [source, told] : by_source_) {
    const bool has_checkpoint = std::any_of(told.begin(), told.end(), [](const Event& event) {
      return event.kind == EventKind::checkpoint;
    });
    if (has_checkpoint && !source.empty()) found.push_back(source);
  }
  return found;
}

void ReplayedEvents::resume(const std::string& ns, std::string_view checkpoint_id) {
  Told& told = by_source_[ns];
  if (!ns.empty()) {
    const auto made = std::find_if(told.begin(), told.end(), [&](const Event& event) {
      return event.kind == EventKind::checkpoint && event.name == checkpoint_id;
    });
    if (made == told.end()) return;
    told.erase(told.begin(), made + 1);
  }
  resumed_.insert(ns);
  at_start_.insert(ns);
}

std::optional<std::string> ReplayedEvents::next_checkpoint(const std::string& ns,
                                                           std::int64_t step) {
  at_start_.erase(ns);
  // The step is over, and with it the graphs that its tasks went on with.
  if (ns.empty()) resumed_.clear();
  const auto found = by_source_.find(ns);
  if (found == by_source_.end()) return std::nullopt;
  Told& told = found->second;
  while (!told.empty()) {
    const Event event = std::move(told.front());
    told.pop_front();
    if (event.kind == EventKind::checkpoint && event.data == std::to_string(step)) {
      return event.name;
    }
  }
  by_source_.erase(found);
  return std::nullopt;
}

std::vector<NewEvent> ReplayedEvents::filter(const std::string& source,
                                             std::vector<NewEvent> events) {
  if (resumed_.erase(source) > 0) return {};
  const auto found = by_source_.find(source);
  if (found == by_source_.end()) return events;
  std::vector<NewEvent> news;
  bool tells_other = false;
  for (NewEvent& event : events) {
    if (!tells_other && is_told(found->second, event)) continue;
    tells_other = tells_other || !is_lifecycle(event.name);
    news.push_back(std::move(event));
  }
  if (tells_other) by_source_.erase(found);
  return news;
}

bool ReplayedEvents::is_told(Told& told, const NewEvent& event) const {
  if (is_lifecycle(event.name)) {
    const auto same = [&](const Event& old) { return is_same(old, event); };
    const auto old = std::find_if(told.begin(), told.end(), same);
    if (old == told.end()) return false;
    told.erase(old);
    return true;
  }
  // A task that had finished does not run again, and says so.
  if (mode_of(event.name) == "updates" && event.data.ends_with(kCached)) {
    const auto same_name = [&](const Event& old) { return old.name == event.name; };
    return std::any_of(told.begin(), told.end(), same_name);
  }
  while (!told.empty() && is_lifecycle(told.front().name)) told.pop_front();
  if (told.empty()) return false;
  // A checkpoint that is told again shows what its tasks have done since.
  const Event& next = told.front();
  const std::string_view mode = mode_of(event.name);
  const bool is_same_checkpoint = next.name == event.name && at_start_.contains(event.source) &&
                                  (mode == "checkpoints" || mode == "debug");
  if (!is_same_checkpoint && !is_same(next, event)) return false;
  told.pop_front();
  return true;
}

}  // namespace clew::server
