// Values to text and bytes, and back. Throughput counts the encoded form.

#include <benchmark/benchmark.h>

#include <clew/encrypted.hpp>
#include <clew/json.hpp>
#include <clew/msgpack.hpp>

#include "samples.hpp"

namespace clew::bench {
namespace {

void count_bytes(benchmark::State& run, std::size_t bytes_each) {
  run.SetBytesProcessed(static_cast<std::int64_t>(run.iterations() * bytes_each));
}

void json_parse(benchmark::State& run, const Value& value) {
  const std::string text = to_json(value);
  for (auto _ : run) benchmark::DoNotOptimize(parse_json(text));
  count_bytes(run, text.size());
}
BENCHMARK_CAPTURE(json_parse, message_dicts, message_dicts(1000));
BENCHMARK_CAPTURE(json_parse, nested_json, nested_json());

void json_write(benchmark::State& run, const Value& value) {
  for (auto _ : run) benchmark::DoNotOptimize(to_json(value));
  count_bytes(run, to_json(value).size());
}
BENCHMARK_CAPTURE(json_write, message_dicts, message_dicts(1000));
BENCHMARK_CAPTURE(json_write, nested_json, nested_json());

void msgpack_decode(benchmark::State& run, const Value& value) {
  const std::string bytes = to_msgpack(value);
  for (auto _ : run) benchmark::DoNotOptimize(from_msgpack(bytes));
  count_bytes(run, bytes.size());
}
BENCHMARK_CAPTURE(msgpack_decode, message_dicts, message_dicts(1000));
BENCHMARK_CAPTURE(msgpack_decode, message_objects, message_objects(1000));
BENCHMARK_CAPTURE(msgpack_decode, nested_json, nested_json());

void msgpack_encode(benchmark::State& run, const Value& value) {
  for (auto _ : run) benchmark::DoNotOptimize(to_msgpack(value));
  count_bytes(run, to_msgpack(value).size());
}
BENCHMARK_CAPTURE(msgpack_encode, message_dicts, message_dicts(1000));
BENCHMARK_CAPTURE(msgpack_encode, message_objects, message_objects(1000));
BENCHMARK_CAPTURE(msgpack_encode, nested_json, nested_json());

const std::string kKey = "0123456789abcdef0123456789abcdef";

void encrypted_dumps(benchmark::State& run) {
  const EncryptedSerializer serializer(std::make_shared<AesEaxCipher>(kKey));
  const Value value = message_dicts(1000);
  for (auto _ : run) benchmark::DoNotOptimize(serializer.dumps_typed(value));
  count_bytes(run, serializer.dumps_typed(value).bytes.size());
}
BENCHMARK(encrypted_dumps);

void encrypted_loads(benchmark::State& run) {
  const EncryptedSerializer serializer(std::make_shared<AesEaxCipher>(kKey));
  const TypedBytes stored = serializer.dumps_typed(message_dicts(1000));
  for (auto _ : run) benchmark::DoNotOptimize(serializer.loads_typed(stored));
  count_bytes(run, stored.bytes.size());
}
BENCHMARK(encrypted_loads);

}  // namespace
}  // namespace clew::bench
