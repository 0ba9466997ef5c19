// MessagePack of any bytes: reading throws nothing but SerdeError, and what was
// read can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <clew/extension.hpp>
#include <clew/msgpack.hpp>

namespace {

using clew::Kind;
using clew::Value;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Inputs that pass the usual limits are too long to be found by chance, so
// everything is tried with a low one as well.
constexpr std::size_t kDepths[] = {1023, 4};

std::optional<Value> read(std::string_view bytes, std::size_t max_depth,
                          bool keep_repeated_keys = false) {
  clew::MsgpackReadOptions options;
  options.max_depth = max_depth;
  options.keep_repeated_keys = keep_repeated_keys;
  try {
    return clew::from_msgpack(bytes, options);
  } catch (const clew::SerdeError& error) {
    require(error.offset().has_value() && *error.offset() <= bytes.size(),
            "offset inside the input");
    require(!error.reason().empty(), "a reason is given");
    return std::nullopt;
  }
}

std::string write(const Value& value, std::size_t max_depth) {
  clew::MsgpackWriteOptions options;
  options.max_depth = max_depth;
  return clew::to_msgpack(value, options);
}

// Whether the bytes are one value by their structure alone: text may be broken
// and the nesting too deep.
bool is_one_value(std::string_view bytes) {
  clew::MsgpackReader reader(bytes);
  try {
    reader.skip();
  } catch (const clew::SerdeError&) {
    return false;
  }
  return reader.at_end();
}

bool is_key(const Value& key) {
  if (!key.is_list()) return key.kind() < Kind::object;
  for (const Value& element : key) {
    if (!is_key(element)) return false;
  }
  return true;
}

// Whether every map has keys that Clew also writes.
bool is_writable(const Value& value) {
  if (value.is_extension()) return is_writable(value.as_extension().payload);
  if (value.is_list()) {
    for (const Value& element : value) {
      if (!is_writable(element)) return false;
    }
  } else if (value.is_object() || value.kind() == Kind::map) {
    for (const auto& [key, element] : value.as_map()) {
      if (!is_key(key) || !is_writable(element)) return false;
    }
  }
  return true;
}

void check_round_trip(const Value& value, std::size_t max_depth) {
  const std::string written = write(value, max_depth);
  const std::optional<Value> again = read(written, max_depth);
  require(again.has_value(), "what was written can be read");
  require(*again == value, "what was written is the same value");
  require(write(*again, max_depth) == written, "the same value is written as the same bytes");
}

void check_refused(const Value& value, std::size_t max_depth) {
  try {
    write(value, max_depth);
  } catch (const clew::SerdeError&) {
    return;
  }
  require(false, "keys that cannot be written are refused");
}

void check(std::string_view input, std::size_t max_depth) {
  const std::optional<Value> value = read(input, max_depth);
  const std::optional<Value> with_repeated_keys = read(input, max_depth, true);
  require(value.has_value() == with_repeated_keys.has_value(), "repeated keys are no error");
  if (!value) return;
  require(is_one_value(input), "what is read as a value can be stepped over");
  if (is_writable(*value)) {
    check_round_trip(*value, max_depth);
  } else {
    check_refused(*value, max_depth);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  is_one_value(input);
  for (std::size_t max_depth : kDepths) check(input, max_depth);
  return 0;
}
