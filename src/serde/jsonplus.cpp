#include <optional>

#include <clew/json.hpp>
#include <clew/msgpack.hpp>
#include <clew/serde.hpp>

#include "serde/document.hpp"
#include "serde/revive.hpp"

namespace clew {
namespace {

// A value that has a tag of its own: nothing inside it needs encoding.
struct PlainForm {
  std::string_view tag;
  std::string_view bytes;
};

std::optional<PlainForm> plain_form(const Value& value) {
  if (value.is_null()) return PlainForm{"null", {}};
  if (value.is_bytes()) return PlainForm{"bytes", value.as_bytes()};
  if (!value.is_extension()) return std::nullopt;
  const Extension extension = value.as_extension();
  if (extension.is_raw) return std::nullopt;
  if (extension.code == ExtensionCode::bytearray) {
    return PlainForm{"bytearray", extension.payload.as_bytes()};
  }
  if (extension.code == ExtensionCode::pickle) {
    return PlainForm{"pickle", extension.payload.as_bytes()};
  }
  return std::nullopt;
}

Value load_json(std::string_view text, const JsonPlusOptions& options) {
  JsonParseOptions parsing;
  parsing.max_depth = options.max_depth;
  parsing.allow_non_finite = true;
  parsing.lone_surrogates = LoneSurrogates::replace;
  return serde::revive(parse_json(text, parsing), options.json_dialect);
}

Value load_msgpack(std::string_view bytes, const JsonPlusOptions& options) {
  MsgpackReadOptions reading;
  reading.max_depth = options.max_depth;
  if (options.types) {
    reading.on_extension = [&types = *options.types](Value extension) {
      return types.from_extension(std::move(extension));
    };
  }
  try {
    return from_msgpack(bytes, reading);
  } catch (const SerdeError&) {
    throw;
  } catch (const Error& error) {
    throw SerdeError(std::string("a stored object does not fit its C++ type: ") + error.what());
  }
}

MsgpackWriteOptions writing_options(const JsonPlusOptions& options) {
  MsgpackWriteOptions writing;
  writing.max_depth = options.max_depth;
  if (options.types) {
    writing.on_host = [&types = *options.types](const Value& host) {
      return types.to_extension(host);
    };
  }
  return writing;
}

}  // namespace

JsonPlusSerializer::JsonPlusSerializer(JsonPlusOptions options) : options_(std::move(options)) {}

TypedBytes JsonPlusSerializer::dumps_typed(const Value& value) const {
  if (const auto plain = plain_form(value)) {
    return {std::string(plain->tag), std::string(plain->bytes)};
  }
  return {std::string(serde::kDocumentTag), to_msgpack(value, writing_options(options_))};
}

internal::MsgpackDocument serde::dump_document(const JsonPlusSerializer& serializer,
                                               const Value& object,
                                               const internal::MsgpackDocument* earlier,
                                               internal::MsgpackDocument spent) {
  return to_msgpack_document(object, writing_options(serializer.options()), earlier,
                             std::move(spent));
}

Value JsonPlusSerializer::loads_typed(std::string_view tag, std::string_view bytes) const {
  if (tag == serde::kDocumentTag) return load_msgpack(bytes, options_);
  if (tag == "null") return {};
  if (tag == "bytes") return Value::bytes(bytes);
  if (tag == "bytearray") return make_extension(ExtensionCode::bytearray, Value::bytes(bytes));
  if (tag == "json") return load_json(bytes, options_);
  if (tag == "pickle") return make_extension(ExtensionCode::pickle, Value::bytes(bytes));
  if (tag.find('+') != tag.npos) {
    throw SerdeError("the value is encrypted (its tag is '" + std::string(tag) +
                     "'): open it with an EncryptedSerializer and the key, LANGGRAPH_AES_KEY");
  }
  throw SerdeError("unknown tag '" + std::string(tag) +
                   "'; known are msgpack, null, bytes, bytearray, json and pickle");
}

}  // namespace clew
