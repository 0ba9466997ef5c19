// The channel kinds of scenario files.
#pragma once

#include <clew/channels.hpp>
#include <clew/value.hpp>

namespace clew::conformance {

// `spec` is a kind's name, or {"kind": name, options}. Throws ScenarioError.
ChannelPtr make_channel(const Value& spec);

}  // namespace clew::conformance
