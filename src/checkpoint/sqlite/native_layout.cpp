#include <clew/errors.hpp>

#include "checkpoint/sqlite/layout.hpp"

namespace clew::sqlite {

std::unique_ptr<Layout> make_native_layout(Database&, std::shared_ptr<const Serializer>) {
  throw StorageError("there is no native layout yet");
}

}  // namespace clew::sqlite
