#include <clew/extension.hpp>

#include <cxxabi.h>

#include <cstdlib>

#include "value/object.hpp"

namespace clew {

using detail::Node;

namespace {

const detail::HostNode* as_host(const Value& value) {
  const Node* node = value.is_extension() ? ValueAccess::node(value) : nullptr;
  return node && node->type == detail::kHost ? static_cast<const detail::HostNode*>(node) : nullptr;
}

// Whether an array of this numpy dtype holds its elements as plain bytes.
// Objects are pointers, and numpy refuses to hand out dates as a buffer.
bool has_plain_elements(const Value& dtype) {
  return dtype.is_string() && dtype.as_string().find_first_of("OMm") == std::string_view::npos;
}

bool payload_fits(ExtensionCode code, const Value& payload) {
  switch (code) {
    case ExtensionCode::construct_args: return payload.is_list();
    case ExtensionCode::ndarray:
      return payload.is_list() && payload.size() == 4 && has_plain_elements(payload[0]) &&
             payload[3].is_bytes();
    case ExtensionCode::bytearray:
    case ExtensionCode::pickle: return payload.is_bytes();
    default: return true;
  }
}

void check_payload(ExtensionCode code, const Value& payload) {
  if (payload_fits(code, payload)) return;
  throw ValueError("an extension of code " + std::to_string(static_cast<int>(code)) +
                   " cannot hold " + payload.type_name() + "; see ExtensionCode for its payload");
}

}  // namespace

std::string Extension::type_name() const {
  if (is_raw) return "extension " + std::to_string(static_cast<int>(code));
  switch (code) {
    case ExtensionCode::ndarray: return "numpy.ndarray";
    case ExtensionCode::delta_snapshot: return "delta snapshot";
    case ExtensionCode::bytearray: return "bytearray";
    case ExtensionCode::pickle: return "pickle";
    default:
      return module.empty() ? std::string(name) : std::string(module) + "." + std::string(name);
  }
}

Value make_extension(ExtensionCode code, std::string_view module, std::string_view name,
                     Value payload, std::string_view method) {
  check_payload(code, payload);
  if (code == ExtensionCode::pydantic_v2 && method.empty()) method = "model_validate_json";
  return detail::make_extension_node(code, module, name, method, std::move(payload));
}

Value make_extension(ExtensionCode code, Value payload) {
  return make_extension(code, {}, {}, std::move(payload));
}

Value make_raw_extension(std::int8_t code, std::string_view bytes) {
  return detail::make_extension_node(static_cast<ExtensionCode>(code), {}, {}, {},
                                     Value::bytes(bytes), true);
}

bool is_instance(const Value& value, std::string_view module, std::string_view name) {
  return value.is_extension() && value.as_extension().is(module, name);
}

Extension Value::as_extension() const {
  if (!is_extension()) throw_kind("extension");
  if (const detail::HostNode* host = as_host(*this)) {
    static const Value kNoPayload;
    return {ExtensionCode::host, {}, ValueAccess::text_of(host->type_name), {}, kNoPayload, false};
  }
  const auto* node = static_cast<const detail::ExtensionNode*>(ValueAccess::node(*this));
  const detail::ExtensionType& type = *node->extension_type();
  return {type.code,
          ValueAccess::text_of(type.module),
          ValueAccess::text_of(type.name),
          ValueAccess::text_of(type.method),
          node->payload,
          type.is_raw};
}

namespace detail {

Value make_extension_node(ExtensionCode code, std::string_view module, std::string_view name,
                          std::string_view method, Value payload, bool is_raw) {
  Ref<const ExtensionType> type = make_extension_type(code, module, name, method, is_raw);
  auto* node = allocate<ExtensionNode>(kExtension, 0);
  node->descriptor = std::move(type).take();
  node->payload = std::move(payload);
  return ValueAccess::adopt(Kind::extension, node);
}

Value wrap_object(std::shared_ptr<const void> object, const std::type_info& type) {
  auto* node = allocate<HostNode>(kHost, 0);
  node->object = std::move(object);
  node->object_type = &type;
  node->type_name = Value(type_text(type));
  return ValueAccess::adopt(Kind::extension, node);
}

const void* unwrap_object(const Value& value, const std::type_info& type) {
  const HostNode* host = as_host(value);
  return host && *host->object_type == type ? host->object.get() : nullptr;
}

const std::type_info* wrapped_type(const Value& value) {
  const HostNode* host = as_host(value);
  return host ? host->object_type : nullptr;
}

std::string type_text(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : type.name();
}

}  // namespace detail
}  // namespace clew
