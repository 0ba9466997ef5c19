// Applies an arbitrary patch to an arbitrary value, both from the bytes of one
// MessagePack list [value, patch]. A patch that does not fit is refused by
// SerdeError; and the way from any value to any other, where there is a patch,
// leads there. The same as if they were checkpoints.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <clew/msgpack.hpp>

#include "checkpoint/sqlite/checkpoint_patch.hpp"
#include "checkpoint/sqlite/value_patch.hpp"

namespace {

template <class Make, class Apply>
void check(const clew::Value& older, const clew::Value& newer, const Make& make,
           const Apply& apply) {
  try {
    apply(older, newer);
  } catch (const clew::SerdeError&) {
  }
  const auto patch = make(older, newer);
  if (!patch || apply(older, *patch) == newer) return;
  std::fputs("the patch leads elsewhere\n", stderr);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clew;
  Value pair;
  try {
    pair = from_msgpack({reinterpret_cast<const char*>(data), size});
  } catch (const SerdeError&) {
    return 0;
  }
  if (!pair.is_list() || pair.size() != 2) return 0;
  check(pair[0], pair[1], sqlite::make_patch, sqlite::apply_patch);
  check(pair[0], pair[1], sqlite::make_checkpoint_patch, sqlite::apply_checkpoint_patch);
  return 0;
}
