// Applies an arbitrary patch to an arbitrary value, both from the bytes of one
// MessagePack list [value, patch]. A patch that does not fit is refused by
// SerdeError; and the way from any value to any other, where there is a patch,
// leads there.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <clew/msgpack.hpp>

#include "checkpoint/sqlite/value_patch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clew;
  Value pair;
  try {
    pair = from_msgpack({reinterpret_cast<const char*>(data), size});
  } catch (const SerdeError&) {
    return 0;
  }
  if (!pair.is_list() || pair.size() != 2) return 0;
  try {
    sqlite::apply_patch(pair[0], pair[1]);
  } catch (const SerdeError&) {
  }
  if (const auto patch = sqlite::make_patch(pair[0], pair[1])) {
    if (sqlite::apply_patch(pair[0], *patch) != pair[1]) {
      std::fputs("the patch leads elsewhere\n", stderr);
      std::abort();
    }
  }
  return 0;
}
