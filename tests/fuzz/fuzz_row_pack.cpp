// Reads the columns of a packed row: the bytes up to the first NUL are new_blobs and step_writes,
// those after it the data. What cannot be read is refused by SerdeError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <clew/error.hpp>

#include "checkpoint/sqlite/row_pack.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clew;
  static const JsonPlusSerializer serializer;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\0');
  const std::string_view columns = all.substr(0, end);
  const std::string_view bytes = end == std::string_view::npos ? "" : all.substr(end + 1);
  try {
    sqlite::PackedBlobs().read(columns, bytes);
  } catch (const SerdeError&) {
  }
  try {
    static_cast<void>(sqlite::packed_writes(columns, bytes, serializer));
  } catch (const SerdeError&) {
  }
  return 0;
}
