#include "shapes/shape.hpp"

#include "report.hpp"
#include "storage.hpp"

namespace clew::bench {
namespace {

std::size_t stream_all(const CompiledGraph& graph, const Value& input, const Config& thread) {
  std::vector<StreamEvent> events;
  const StreamOptions options{.modes = {StreamMode::updates}};
  for (const StreamEvent& event : graph.stream(input, thread, options)) events.push_back(event);
  return events.size();
}

}  // namespace

void run_shape(const Options& options, const Shape& shape) {
  const int n = options.n ? options.n : 3;
  Times times;
  std::size_t events = 0;
  const auto disk = repeat(options, [&](const std::shared_ptr<Checkpointer>& checkpointer) {
    const CompiledGraph graph = shape.graph.compile({.checkpointer = checkpointer});
    events = stream_all(graph, shape.input, thread_config(options, "warm"));
    times.measure([&] {
      for (int i = 0; i < n; ++i) stream_all(graph, shape.input, thread_config(options, i));
    });
  });
  emit({.workload = shape.name,
        .backend = options.backend,
        .n = n,
        .times = times,
        .steps = shape.steps,
        .bytes_on_disk = disk,
        .extra = {{"durability", durability_of(options)}, {"events", events}}});
}

}  // namespace clew::bench
