#include <clew/store.hpp>

#include <ostream>

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/time.hpp>

namespace clew {

namespace {

template <class Result>
Result run(Store& store, const StoreOp& op) {
  return std::get<Result>(std::move(store.batch({&op, 1}).front()));
}

class FunctionEmbedder final : public Embedder {
 public:
  using Function = std::function<std::vector<Vector>(std::span<const std::string>)>;

  explicit FunctionEmbedder(Function function) : function_(std::move(function)) {}

  std::vector<Vector> embed_documents(std::span<const std::string> texts) override {
    return function_(texts);
  }

 private:
  Function function_;
};

}  // namespace

Value to_value(const Item& item) {
  return object({{"value", item.value},
                 {"key", item.key},
                 {"namespace", item.namespace_},
                 {"created_at", format_time(item.created_at)},
                 {"updated_at", format_time(item.updated_at)}});
}

Value to_value(const SearchItem& item) {
  return to_value(static_cast<const Item&>(item)).set("score", item.score);
}

std::ostream& operator<<(std::ostream& out, const Item& item) { return out << to_value(item); }

std::ostream& operator<<(std::ostream& out, const SearchItem& item) {
  return out << to_value(item);
}

void Store::put(const StoreNamespace& ns, std::string_view key, Value value,
                const PutOptions& options) {
  check_namespace(ns);
  if (!value.is_object()) {
    throw ValueError("an item of a store is an object, found " + value.type_name() +
                     "; use delete_item to remove one");
  }
  put_checked(ns, key, std::move(value), options);
}

void Store::put_checked(const StoreNamespace& ns, std::string_view key, Value value,
                        const PutOptions& options) {
  const StoreOp op = PutOp{ns, std::string(key), std::move(value), options};
  batch({&op, 1});
}

std::optional<Item> Store::get(const StoreNamespace& ns, std::string_view key,
                               std::optional<bool> refresh_ttl) {
  check_labels(ns);
  return get_checked(ns, key, refresh_ttl);
}

std::optional<Item> Store::get_checked(const StoreNamespace& ns, std::string_view key,
                                       std::optional<bool> refresh_ttl) {
  return run<std::optional<Item>>(*this, GetOp{ns, std::string(key), refresh_ttl});
}

void Store::delete_item(const StoreNamespace& ns, std::string_view key) {
  check_labels(ns);
  const StoreOp op = PutOp{ns, std::string(key), nullptr};
  batch({&op, 1});
}

std::vector<SearchItem> Store::search(const StoreNamespace& prefix, const SearchOptions& options) {
  check_labels(prefix);
  return run<std::vector<SearchItem>>(*this, SearchOp{prefix, options});
}

std::vector<StoreNamespace> Store::list_namespaces(const ListNamespacesOptions& options) {
  check_labels(options.prefix);
  check_labels(options.suffix);
  return run<std::vector<StoreNamespace>>(*this, ListNamespacesOp{options});
}

Embedder::Vector Embedder::embed_query(const std::string& text) {
  std::vector<Vector> vectors = embed_documents({&text, 1});
  if (vectors.size() != 1) {
    throw ValueError("the embedder made " + std::to_string(vectors.size()) +
                     " vectors of one text; it must make one per text");
  }
  return std::move(vectors.front());
}

std::shared_ptr<Embedder> make_embedder(
    std::function<std::vector<Embedder::Vector>(std::span<const std::string> texts)> function) {
  return std::make_shared<FunctionEmbedder>(std::move(function));
}

}  // namespace clew
