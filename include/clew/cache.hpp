// Results of nodes that have a CachePolicy, by node and input.
//
//   graph.add_node("embed", embed, {.cache_policy = CachePolicy{}});
//   graph.compile({.cache = std::make_shared<InMemoryCache>()});
//
// All methods may be called from any thread.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <clew/checkpointer.hpp>
#include <clew/value.hpp>

namespace clew {

class Cache {
 public:
  Cache() = default;
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  virtual ~Cache() = default;

  // `ns` names the graph's node; `key` is a hash of its input.
  virtual std::optional<std::vector<ChannelWrite>> get(std::string_view ns,
                                                       std::string_view key) = 0;
  virtual void set(std::string_view ns, std::string_view key, std::vector<ChannelWrite> writes,
                   std::optional<std::chrono::seconds> ttl) = 0;
  virtual void clear(std::string_view ns) = 0;
};

class InMemoryCache final : public Cache {
 public:
  std::optional<std::vector<ChannelWrite>> get(std::string_view ns, std::string_view key) override;
  void set(std::string_view ns, std::string_view key, std::vector<ChannelWrite> writes,
           std::optional<std::chrono::seconds> ttl) override;
  void clear(std::string_view ns) override;

 private:
  struct Entry {
    std::vector<ChannelWrite> writes;
    std::optional<std::chrono::steady_clock::time_point> expiry;
  };
  std::mutex mutex_;
  std::unordered_map<std::string, std::unordered_map<std::string, Entry>> entries_;
};

}  // namespace clew
