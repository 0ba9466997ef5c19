#pragma once

#include <string>

namespace clew::pregel {

// The time, as checkpoints and events carry it: "2024-05-06T07:08:09.123456+00:00".
std::string now_text();

}  // namespace clew::pregel
