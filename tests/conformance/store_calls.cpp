#include "store_calls.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "python.hpp"
#include "scenario.hpp"

namespace clew::conformance {
namespace {

// More than any scenario stores.
constexpr std::size_t kEverything = 1000;

StoreNamespace namespace_of(const Value& arguments) { return string_list(arguments["ns"]); }

Value item_fields(const Item& item) {
  return object({{"ns", item.namespace_}, {"key", item.key}, {"value", item.value}});
}

template <class T>
void read_option(const Value& arguments, std::string_view name, T& option) {
  if (const Value* value = arguments.find(name)) option = value->get<T>();
}

}  // namespace

void put_item(Store& store, const Value& arguments) {
  PutOptions options;
  if (const Value* index = arguments.find("index"); index && !index->is_null()) {
    options.index = index->is_list() ? string_list(*index) : std::vector<std::string>();
  }
  store.put(namespace_of(arguments), arguments.get<std::string>("key"), arguments["value"],
            options);
}

void delete_item(Store& store, const Value& arguments) {
  store.delete_item(namespace_of(arguments), arguments.get<std::string>("key"));
}

Value get_item(Store& store, const Value& arguments) {
  const auto item = store.get(namespace_of(arguments), arguments.get<std::string>("key"));
  return item ? item_fields(*item) : Value();
}

Value search_items(Store& store, const Value& arguments) {
  SearchOptions options;
  read_option(arguments, "query", options.query);
  read_option(arguments, "filter", options.filter);
  read_option(arguments, "limit", options.limit);
  read_option(arguments, "offset", options.offset);
  ListBuilder found;
  for (const SearchItem& item : store.search(namespace_of(arguments), options)) {
    const Value fields = item_fields(item);
    found.push_back(item.score ? fields.set("score", *item.score) : fields);
  }
  return std::move(found).build();
}

Value list_namespaces(Store& store, const Value& arguments) {
  ListNamespacesOptions options;
  read_option(arguments, "prefix", options.prefix);
  read_option(arguments, "suffix", options.suffix);
  read_option(arguments, "max_depth", options.max_depth);
  read_option(arguments, "limit", options.limit);
  read_option(arguments, "offset", options.offset);
  return store.list_namespaces(options);
}

Value all_items(Store& store) {
  std::vector<Value> items;
  for (const SearchItem& item : store.search({}, {.limit = kEverything})) {
    items.push_back(item_fields(item));
  }
  std::sort(items.begin(), items.end(),
            [](const Value& a, const Value& b) { return canonical_text(a) < canonical_text(b); });
  return items;
}

}  // namespace clew::conformance
