#include <clew/serde.hpp>

namespace clew {
namespace {

std::string tag_of(std::string_view module, std::string_view name) {
  return std::string(module) + "." + std::string(name);
}

}  // namespace

void TypeRegistry::add_type(const std::type_info& type, std::string_view tag, Conversion encode,
                            Conversion decode) {
  const std::size_t dot = tag.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == tag.size()) {
    throw Error("the tag of " + detail::type_text(type) + " must be 'module.Name', found '" +
                std::string(tag) + "'");
  }
  auto entry = std::make_shared<const Type>(Type{std::string(tag.substr(0, dot)),
                                                 std::string(tag.substr(dot + 1)),
                                                 std::move(encode), std::move(decode)});
  if (by_type_.contains(type) || by_tag_.contains(std::string(tag))) {
    throw Error(detail::type_text(type) + " or the tag '" + std::string(tag) +
                "' is registered already");
  }
  by_type_.emplace(type, entry);
  by_tag_.emplace(tag, std::move(entry));
}

Value TypeRegistry::to_extension(const Value& wrapped) const {
  const std::type_info* type = detail::wrapped_type(wrapped);
  if (!type) throw ValueError("expected a wrapped C++ object, found " + wrapped.type_name());
  const auto found = by_type_.find(*type);
  if (found == by_type_.end()) {
    const std::string name = detail::type_text(*type);
    throw ValueError("the C++ type " + name + " is not registered; call TypeRegistry::add<" + name +
                     ">(\"module.Name\") and give the registry to the serializer");
  }
  Value fields = found->second->encode(wrapped);
  const ExtensionCode code =
      fields.is_object() ? ExtensionCode::construct_kwargs : ExtensionCode::construct;
  return make_extension(code, found->second->module, found->second->name, std::move(fields));
}

Value TypeRegistry::from_extension(Value value) const {
  const Extension extension = value.as_extension();
  if (extension.is_raw || extension.module.empty()) return value;
  const auto found = by_tag_.find(tag_of(extension.module, extension.name));
  if (found == by_tag_.end()) return value;
  try {
    return found->second->decode(extension.payload);
  } catch (const ValueError& error) {
    throw ValueError(extension.type_name() + ": " + error.what());
  }
}

}  // namespace clew
