#include "server/store_service.hpp"

#include <algorithm>

#include <clew/errors.hpp>

#include "server/body.hpp"
#include "server/shapes.hpp"

namespace clew::server {
namespace {

StoreNamespace make_namespace(const std::vector<std::string>& labels) {
  try {
    return labels;
  } catch (const InvalidNamespaceError& error) {
    throw ServiceError(422, error.what());
  }
}

StoreNamespace labels_of(const Value& list) {
  std::vector<std::string> labels;
  if (!list.is_list()) throw ServiceError(422, "a namespace is a list of labels");
  for (const Value& label : list) {
    if (!label.is_string()) throw ServiceError(422, "a namespace is a list of labels");
    labels.push_back(label.get<std::string>());
  }
  return make_namespace(labels);
}

StoreNamespace required_namespace(const Body& body, std::string_view key) {
  if (!body.has(key)) {
    throw ServiceError(422, "\"" + std::string(key) + "\" is a required property");
  }
  return labels_of(body[key]);
}

void check_owner(const Caller& caller, const StoreNamespace& ns) {
  if (caller.store_root.empty()) return;
  if (ns.empty() || ns.front() != caller.store_root) {
    throw ServiceError(403, "Not your namespace");
  }
}

void check_labels_422(const StoreNamespace& ns) {
  try {
    check_labels(ns);
  } catch (const InvalidNamespaceError& error) {
    throw ServiceError(422, error.what());
  }
}

Value item_value(const Item& item) {
  return object({{"namespace", Value(item.namespace_)},
                 {"key", item.key},
                 {"value", plain(item.value)},
                 {"created_at", time_text(item.created_at)},
                 {"updated_at", time_text(item.updated_at)}});
}

std::optional<std::chrono::milliseconds> ttl_of(const Body& body) {
  constexpr double kLongest = 60.0 * 24 * 365 * 1000;
  const auto minutes = body.number("ttl", 0);
  if (!minutes) return std::nullopt;
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(std::min(*minutes, kLongest) * 60'000));
}

}  // namespace

void StoreService::put(const Caller& caller, const Value& json) {
  const Body body(json);
  const StoreNamespace ns = required_namespace(body, "namespace");
  const std::string key = body.required_text("key");
  if (!body.has("value")) throw ServiceError(422, "\"value\" is a required property");
  const Value value = body.object_field("value");
  if (value.is_null()) throw ServiceError(422, "\"value\" is not of type \"object\"");
  PutOptions options;
  options.ttl = ttl_of(body);
  const Value& index = body["index"];
  if (index.is_bool() && !index.as_bool()) options.index.emplace();
  if (index.is_list()) options.index = body.texts("index");
  if (ns.empty()) throw ServiceError(400, "Namespace cannot be empty.");
  check_labels_422(ns);
  check_owner(caller, ns);
  try {
    parts_.store->put(ns, key, value, options);
  } catch (const InvalidNamespaceError& error) {
    throw ServiceError(400, error.what());
  } catch (const BadArgumentError&) {
    throw ServiceError(400, "The store of this server keeps items for good: leave out the ttl.");
  } catch (const ValueError& error) {
    throw ServiceError(400, error.what());
  }
}

Value StoreService::get(const Caller& caller, const std::optional<std::string>& key,
                        const Value& name_space, std::optional<bool> refresh_ttl) {
  if (!key || key->empty()) throw ServiceError(400, "Key is required");
  const StoreNamespace ns = labels_of(name_space);
  check_labels_422(ns);
  check_owner(caller, ns);
  const auto item = parts_.store->get(ns, *key, refresh_ttl);
  return item ? item_value(*item) : Value();
}

void StoreService::remove(const Caller& caller, const Value& json) {
  const Body body(json);
  const StoreNamespace ns = required_namespace(body, "namespace");
  const std::string key = body.required_text("key");
  check_labels_422(ns);
  check_owner(caller, ns);
  parts_.store->delete_item(ns, key);
}

Value StoreService::search(const Caller& caller, const Value& json) {
  const Body body(json);
  const StoreNamespace prefix = required_namespace(body, "namespace_prefix");
  check_labels_422(prefix);
  check_owner(caller, prefix);
  SearchOptions options;
  const Page page = body.page();
  options.limit = page.limit;
  options.offset = page.offset;
  options.filter = body.object_field("filter");
  options.query = body.text("query").value_or("");
  options.refresh_ttl = body.flag("refresh_ttl");
  ListBuilder items;
  try {
    for (const SearchItem& item : parts_.store->search(prefix, options)) {
      items.push_back(item_value(item).set("score", item.score ? Value(*item.score) : Value()));
    }
  } catch (const ValueError& error) {
    throw ServiceError(400, error.what());
  }
  return object({{"items", std::move(items).build()}});
}

Value StoreService::namespaces(const Caller& caller, const Value& json) {
  const Body body(json);
  ListNamespacesOptions options;
  options.prefix = make_namespace(body.texts("prefix").value_or(std::vector<std::string>()));
  options.suffix = make_namespace(body.texts("suffix").value_or(std::vector<std::string>()));
  if (const auto depth = body.integer("max_depth", 1, 1000)) {
    options.max_depth = static_cast<std::size_t>(*depth);
  }
  options.limit = static_cast<std::size_t>(body.integer("limit", 1, 1000).value_or(100));
  options.offset = body.page().offset;
  if (options.prefix.empty() && !caller.store_root.empty()) options.prefix = {caller.store_root};
  check_labels_422(options.prefix);
  check_labels_422(options.suffix);
  check_owner(caller, options.prefix);
  ListBuilder namespaces;
  for (const StoreNamespace& ns : parts_.store->list_namespaces(options)) {
    namespaces.push_back(Value(ns));
  }
  return object({{"namespaces", std::move(namespaces).build()}});
}

}  // namespace clew::server
