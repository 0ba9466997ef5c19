#include "storage.hpp"

#include <array>
#include <string_view>

#include <clew/memory_saver.hpp>

namespace clew::bench {
namespace {

struct Backend {
  std::string_view name;
  Storage (*open)(const Options& options);
};

Storage open_none(const Options&) { return {}; }

Storage open_memory(const Options&) { return {.checkpointer = std::make_shared<InMemorySaver>()}; }

constexpr std::array kBackends = {
    Backend{"none", open_none},
    Backend{"memory", open_memory},
};

}  // namespace

Storage open_storage(const Options& options) {
  for (const Backend& backend : kBackends) {
    if (backend.name == options.backend) return backend.open(options);
  }
  throw UsageError("this build has no backend '" + options.backend + "' yet");
}

Config thread_config(const Options& options, std::string name) {
  constexpr int kRecursionLimit = 100'000;
  return {.thread_id = std::move(name),
          .recursion_limit = kRecursionLimit,
          .durability = Value(options.durability).get<Durability>()};
}

Value durability_of(const Options& options) {
  return options.backend == "none" ? Value() : Value(options.durability);
}

}  // namespace clew::bench
