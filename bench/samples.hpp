// The values that benchmarks work on, equal to those of langgraph/bench.py.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <clew/value.hpp>

namespace clew::bench {

// Text filler: the lower-case hex of SHA-256("tag:0"), SHA-256("tag:1"), ...
// joined and cut to `size`.
std::string hexstr(std::string_view tag, std::size_t size);

// Messages of 500 characters, by turns of a human and of a model.
Value message_dicts(std::size_t count);
Value message_objects(std::size_t count);

// 95 sections of 20 items: strings, numbers, bools, null, and lists of them.
Value nested_json();

}  // namespace clew::bench
