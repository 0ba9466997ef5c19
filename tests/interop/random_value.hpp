// Random values of every kind that Python reads back as it was written: no
// classes that Python would have to import from a user's module, no map keys
// that Python takes for the same, no decimal text that Python would rewrite.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <clew/value.hpp>

namespace clew::interop {

// The same seed gives the same values on every machine.
class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : engine_(seed) {}

  Value next();

 private:
  // At least 0 and less than `bound`.
  std::size_t below(std::size_t bound) { return engine_() % bound; }
  bool one_in(std::size_t count) { return below(count) == 0; }

  Value any(int depth);
  Value scalar();
  Value integer();
  double floating();
  std::string text();
  std::string character();
  std::string word();
  std::string bytes(std::size_t max_size);
  std::optional<std::string> optional_word();

  Value list_of(int depth);
  Value object_of(int depth);
  Value map_of(int depth);
  Value key(std::size_t index);
  Value set();
  // A value of JSON alone, as the free-form fields of messages hold.
  Value json(int depth);
  Value json_object(int depth);

  Value python_value();
  Value time();
  Value path();
  std::chrono::microseconds duration(std::int64_t max_days);
  std::string decimal();
  Value ndarray();
  Value langgraph_value(int depth);

  Value message();
  Value ai_message();
  Value content();
  template <class Message>
  Message with_common_fields();

  std::mt19937_64 engine_;
};

}  // namespace clew::interop
