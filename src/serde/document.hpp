// What JsonPlusSerializer makes of objects that are stored again and again, a little changed.
#pragma once

#include <string_view>

#include <clew/serde.hpp>

#include "value/msgpack_document.hpp"

namespace clew::serde {

inline constexpr std::string_view kDocumentTag = "msgpack";

// The bytes that dumps_typed() gives of an object; their tag is kDocumentTag. `earlier` may be
// null, or a document of the same serializer, what is still in it being copied.
internal::MsgpackDocument dump_document(const JsonPlusSerializer& serializer, const Value& object,
                                        const internal::MsgpackDocument* earlier,
                                        internal::MsgpackDocument spent);

}  // namespace clew::serde
