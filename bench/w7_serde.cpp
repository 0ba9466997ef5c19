#include <clew/serde.hpp>

#include "report.hpp"
#include "samples.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

constexpr double kSecondsPerRepetition = 0.8;

// Adds the time of one call, averaged over as many as fit a repetition.
template <class Operation>
void measure(Times& times, const Operation& operation) {
  const Stopwatch watch;
  int calls = 0;
  while (watch.wall() < kSecondsPerRepetition) {
    operation();
    ++calls;
  }
  times.wall.push_back(watch.wall() / calls);
  times.cpu.push_back(watch.cpu() / calls);
}

void emit_serde(const std::string& workload, const TypedBytes& stored, const Times& times) {
  const auto size = static_cast<double>(stored.bytes.size());
  emit({.workload = workload,
        .backend = stored.tag,
        .times = times,
        .extra = {{"blob_bytes", stored.bytes.size()},
                  {"mb_per_s", rounded(size / 1e6 / median(times.wall), 1)}}});
}

void run(const std::string& name, const Value& value, const Options& options) {
  const JsonPlusSerializer serializer;
  const TypedBytes stored = serializer.dumps_typed(value);
  expect(serializer.loads_typed(stored) == value, "W7: " + name + ", read back,");

  Times encoding;
  Times decoding;
  for (int i = 0; i < options.repeat; ++i) {
    measure(encoding, [&] { serializer.dumps_typed(value); });
    measure(decoding, [&] { serializer.loads_typed(stored); });
  }
  emit_serde("W7_enc_" + name, stored, encoding);
  emit_serde("W7_dec_" + name, stored, decoding);
}

}  // namespace

void run_w7_serde(const Options& options) {
  run("msg_dicts", message_dicts(1000), options);
  run("msg_objects", message_objects(1000), options);
  run("nested_json", nested_json(), options);
}

}  // namespace clew::bench
