// Making, copying, changing and looking into values.

#include <clew/value.hpp>

#include <benchmark/benchmark.h>

#include <clew/messages.hpp>

#include "samples.hpp"

namespace clew::bench {
namespace {

Value state_of_messages(std::size_t count) {
  return object({{"messages", message_objects(count)}, {"step", 1}});
}

Value object_of(std::int64_t keys) {
  ObjectBuilder entries;
  for (std::int64_t i = 0; i < keys; ++i) entries.set("key" + std::to_string(i), i);
  return std::move(entries).build();
}

void copy_state_of_1000_messages(benchmark::State& run) {
  const Value state = state_of_messages(1000);
  for (auto _ : run) {
    Value copy = state;
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK(copy_state_of_1000_messages);

// The old state stays alive. A list of 1000 has room in its last chunk, one of
// 1024 has not.
void append_message_to_state(benchmark::State& run) {
  const Value state = state_of_messages(static_cast<std::size_t>(run.range(0)));
  const Value message = message_objects(1)[0];
  for (auto _ : run) {
    Value longer = state.set("messages", state["messages"].append(message));
    benchmark::DoNotOptimize(longer);
  }
}
BENCHMARK(append_message_to_state)->Arg(1000)->Arg(1024);

void replace_message_in_list(benchmark::State& run) {
  const Value messages = message_objects(1000);
  const Value message = message_objects(1)[0];
  for (auto _ : run) {
    Value changed = messages.set(500, message);
    benchmark::DoNotOptimize(changed);
  }
}
BENCHMARK(replace_message_in_list);

void difference_after_append(benchmark::State& run) {
  const Value messages = message_objects(1000);
  const Value longer = messages.append(message_objects(1)[0]);
  for (auto _ : run) benchmark::DoNotOptimize(difference(messages, longer));
}
BENCHMARK(difference_after_append);

void iterate_1000_messages(benchmark::State& run) {
  const Value messages = message_objects(1000);
  for (auto _ : run) {
    for (const Value& message : messages) benchmark::DoNotOptimize(message.kind());
  }
}
BENCHMARK(iterate_1000_messages);

void set_existing_key(benchmark::State& run) {
  const Value object = object_of(run.range(0));
  for (auto _ : run) {
    Value changed = object.set("key5", 7);
    benchmark::DoNotOptimize(changed);
  }
}
BENCHMARK(set_existing_key)->Arg(8)->Arg(32)->Arg(1000)->Arg(100000);

void set_new_key(benchmark::State& run) {
  const Value object = object_of(run.range(0));
  for (auto _ : run) {
    Value changed = object.set("another", 7);
    benchmark::DoNotOptimize(changed);
  }
}
BENCHMARK(set_new_key)->Arg(8)->Arg(31)->Arg(1000)->Arg(100000);

void find_key(benchmark::State& run) {
  const Value object = object_of(run.range(0));
  const std::string key = "key" + std::to_string(run.range(0) / 2);
  for (auto _ : run) benchmark::DoNotOptimize(object.find(key));
}
BENCHMARK(find_key)->Arg(6)->Arg(20)->Arg(1000)->Arg(100000);

void make_string(benchmark::State& run) {
  const std::string text(static_cast<std::size_t>(run.range(0)), 'x');
  for (auto _ : run) {
    Value value(text);
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(make_string)->Arg(14)->Arg(15)->Arg(500);

void make_list_of_3(benchmark::State& run) {
  for (auto _ : run) {
    Value value = list({"a", 1, nullptr});
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(make_list_of_3);

void make_object_of_3(benchmark::State& run) {
  for (auto _ : run) {
    Value value{{"foo", "a"}, {"bar", 1}, {"baz", nullptr}};
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(make_object_of_3);

void build_list(benchmark::State& run) {
  for (auto _ : run) {
    ListBuilder builder;
    for (std::int64_t i = 0; i < run.range(0); ++i) builder.push_back(i);
    Value value = std::move(builder).build();
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(build_list)->Arg(8)->Arg(1000);

void make_human_message(benchmark::State& run) {
  const HumanMessage message{.content = hexstr("m0", 500), .id = "m0"};
  for (auto _ : run) {
    Value value = message;
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(make_human_message);

void read_ai_message(benchmark::State& run) {
  const Value value = message_objects(2)[1];
  for (auto _ : run) {
    auto message = value.get<AIMessage>();
    benchmark::DoNotOptimize(message);
  }
}
BENCHMARK(read_ai_message);

}  // namespace
}  // namespace clew::bench
