#include "store_steps.hpp"

#include <sqlite3.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <set>
#include <thread>

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/sqlite_store.hpp>

namespace clew::interop {
namespace {

constexpr std::size_t kDims = 16;

Embedder::Vector count_words(std::string_view text) {
  constexpr std::uint32_t kOffsetBasis = 0x811C9DC5;
  constexpr std::uint32_t kPrime = 0x01000193;
  Embedder::Vector vector(kDims, 0.0625F);
  std::uint32_t hash = kOffsetBasis;
  bool in_word = false;
  const auto finish_word = [&] {
    if (in_word) vector[hash % kDims] += 1;
    hash = kOffsetBasis;
    in_word = false;
  };
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      hash = (hash ^ static_cast<std::uint8_t>(c)) * kPrime;
      in_word = true;
    } else {
      finish_word();
    }
  }
  finish_word();
  return vector;
}

std::chrono::milliseconds read_minutes(const Value& minutes) {
  return std::chrono::milliseconds(std::llround(minutes.as_double() * 60'000));
}

std::optional<StoreTtl> read_ttl(const Value& recorded) {
  if (recorded.is_null()) return std::nullopt;
  StoreTtl ttl;
  if (!recorded["default_ttl"].is_null()) ttl.default_ttl = read_minutes(recorded["default_ttl"]);
  ttl.refresh_on_read = recorded["refresh_on_read"] == Value(true);
  return ttl;
}

PutOptions read_put_options(const Value& step) {
  PutOptions options;
  if (step["index"] == Value(false)) options.index.emplace();
  if (step["index"].is_list()) options.index = step["index"].get<std::vector<std::string>>();
  if (step.contains("ttl")) {
    options.ttl = step["ttl"].is_null() ? kNoTtl : read_minutes(step["ttl"]);
  }
  return options;
}

ListNamespacesOptions read_list_options(const Value& step) {
  ListNamespacesOptions options{.prefix = read_namespace(step["prefix"]),
                                .suffix = read_namespace(step["suffix"])};
  if (!step["max_depth"].is_null()) options.max_depth = step.get<std::size_t>("max_depth");
  if (!step["limit"].is_null()) options.limit = step.get<std::size_t>("limit");
  if (!step["offset"].is_null()) options.offset = step.get<std::size_t>("offset");
  return options;
}

StoreOp read_op(const Value& step) {
  const std::string_view op = step["op"].as_string();
  if (op == "get") return GetOp{read_namespace(step["ns"]), step.get<std::string>("key")};
  if (op == "put") {
    return PutOp{read_namespace(step["ns"]), step.get<std::string>("key"), step["value"],
                 read_put_options(step)};
  }
  if (op == "search") return SearchOp{read_namespace(step["prefix"]), read_search_options(step)};
  if (op == "list_namespaces") return ListNamespacesOp{read_list_options(step)};
  throw Error("a batch has an unknown operation '" + std::string(op) + "'");
}

Value describe_result(const StoreResult& result) {
  if (const auto* item = std::get_if<std::optional<Item>>(&result)) {
    return *item ? describe(**item) : Value();
  }
  if (const auto* items = std::get_if<std::vector<SearchItem>>(&result)) return describe(*items);
  if (const auto* listed = std::get_if<std::vector<StoreNamespace>>(&result)) return *listed;
  return nullptr;
}

// Rows of a file, past everything that is under test.
Value select(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_open(file.c_str(), &database) != SQLITE_OK ||
      sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    const std::string reason = sqlite3_errmsg(database);
    sqlite3_close(database);
    throw Error("cannot read " + file.string() + ": " + reason);
  }
  const auto column = [&](int at) -> Value {
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, at));
    switch (sqlite3_column_type(statement, at)) {
      case SQLITE_NULL: return {};
      case SQLITE_INTEGER: return Value(std::int64_t{sqlite3_column_int64(statement, at)});
      case SQLITE_FLOAT: return Value(sqlite3_column_double(statement, at));
      default:
        return Value::bytes(
            std::string_view(static_cast<const char*>(sqlite3_column_blob(statement, at)), size));
    }
  };
  ListBuilder rows;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    ListBuilder row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) row.push_back(column(i));
    rows.push_back(std::move(row).build());
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return std::move(rows).build();
}

Value text(const Value& bytes) { return Value(bytes.as_bytes()); }

Value read_vector(std::string_view bytes) {
  ListBuilder numbers;
  for (std::size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, bytes.data() + i, sizeof number);
    numbers.push_back(static_cast<double>(number));
  }
  return std::move(numbers).build();
}

Value dump_file(const std::filesystem::path& file, bool has_index) {
  ListBuilder items;
  ListBuilder ttl;
  std::set<std::string> types;
  for (const Value& row :
       select(file,
              "SELECT prefix, key, value, ttl_minutes, expires_at IS NOT NULL, typeof(value) "
              "FROM store ORDER BY prefix, key")) {
    items.push_back(list({text(row[0]), text(row[1]), parse_json(row[2].as_bytes())}));
    ttl.push_back(list({text(row[0]), text(row[1]), row[3], row[4] == Value(1)}));
    types.emplace(row[5].as_bytes());
  }
  Value rows = object({{"store", std::move(items).build()},
                       {"ttl_minutes", std::move(ttl).build()},
                       {"value_sqltype", std::vector<std::string>(types.begin(), types.end())}});
  if (!has_index) return rows;
  ListBuilder vectors;
  for (const Value& row : select(file,
                                 "SELECT prefix, key, field_name, embedding FROM store_vectors "
                                 "ORDER BY prefix, key, field_name")) {
    vectors.push_back(
        list({text(row[0]), text(row[1]), text(row[2]), read_vector(row[3].as_bytes())}));
  }
  return rows.set("vectors", std::move(vectors).build());
}

}  // namespace

std::shared_ptr<Embedder> word_counter() {
  return make_embedder([](std::span<const std::string> texts) {
    std::vector<Embedder::Vector> vectors;
    for (const std::string& text : texts) vectors.push_back(count_words(text));
    return vectors;
  });
}

std::optional<IndexOptions> read_index(const Value& recorded) {
  if (recorded.is_null()) return std::nullopt;
  IndexOptions options{.embed = word_counter(), .dims = recorded.get<std::size_t>("dims")};
  // LangGraph's SqliteStore has another name for the fields.
  for (const char* name : {"fields", "text_fields"}) {
    if (recorded.contains(name)) options.fields = recorded.get<std::vector<std::string>>(name);
  }
  if (recorded["distance_type"] == Value("l2")) options.distance = Distance::l2;
  if (recorded["distance_type"] == Value("inner_product")) {
    options.distance = Distance::inner_product;
  }
  return options;
}

SearchOptions read_search_options(const Value& step) {
  SearchOptions options{.filter = step["filter"]};
  if (!step["query"].is_null()) options.query = step.get<std::string>("query");
  if (!step["limit"].is_null()) options.limit = step.get<std::size_t>("limit");
  if (!step["offset"].is_null()) options.offset = step.get<std::size_t>("offset");
  return options;
}

StoreNamespace read_namespace(const Value& labels) {
  return labels.is_null() ? StoreNamespace() : labels.get<StoreNamespace>();
}

Value describe(const Item& item) {
  return object({{"ns", item.namespace_}, {"key", item.key}, {"value", item.value}});
}

Value describe(const std::vector<SearchItem>& items) {
  ListBuilder described;
  for (const SearchItem& item : items) {
    described.push_back(describe(static_cast<const Item&>(item)).set("score", item.score));
  }
  return std::move(described).build();
}

ScriptedStore::ScriptedStore(const std::string& backend, const Value& sequence,
                             const std::filesystem::path& folder)
    : is_sqlite_(backend == "sqlite"),
      has_index_(sequence.contains("index")),
      file_((folder.empty() ? temporary_.path : folder) /
            (sequence.get<std::string>("name") + ".db")) {
  const std::optional<IndexOptions> index = read_index(sequence["index"]);
  const std::optional<StoreTtl> ttl = read_ttl(sequence["ttl"]);
  if (is_sqlite_) {
    store_ = SqliteStore::open(file_.string(), {.index = index, .ttl = ttl});
  } else {
    store_ = std::make_shared<InMemoryStore>(StoreOptions{.index = index, .ttl = ttl});
  }
}

Value ScriptedStore::run(const Value& step) {
  try {
    return object({{"ok", perform(step)}});
  } catch (const InvalidNamespaceError&) {
    return object({{"error", "InvalidNamespaceError"}});
  } catch (const BadArgumentError&) {
    return object({{"error", "NotImplementedError"}});
  } catch (const ValueError&) {
    return object({{"error", "ValueError"}});
  }
}

Value ScriptedStore::perform(const Value& step) {
  const std::string_view op = step["op"].as_string();
  if (op == "dump_rows") return dump_rows();
  if (op == "batch") return batch(step);
  if (op == "sweep_ttl") return store_->sweep_ttl();
  if (op == "sleep") {
    std::this_thread::sleep_for(std::chrono::duration<double>(step["seconds"].as_double()));
    return nullptr;
  }
  const StoreNamespace ns = read_namespace(step["ns"]);
  if (op == "put") {
    store_->put(ns, step["key"].as_string(), step["value"], read_put_options(step));
    return nullptr;
  }
  if (op == "delete") {
    store_->delete_item(ns, step["key"].as_string());
    return nullptr;
  }
  if (op == "get") {
    std::optional<bool> refresh_ttl;
    if (step["refresh_ttl"].is_bool()) refresh_ttl = step["refresh_ttl"].as_bool();
    const auto item = store_->get(ns, step["key"].as_string(), refresh_ttl);
    if (!item) return nullptr;
    return describe(*item).set("created_eq_updated", item->created_at == item->updated_at);
  }
  if (op == "search") {
    return describe(store_->search(read_namespace(step["prefix"]), read_search_options(step)));
  }
  if (op == "list_namespaces") return store_->list_namespaces(read_list_options(step));
  throw Error("unknown step '" + std::string(op) + "'");
}

Value ScriptedStore::batch(const Value& step) {
  std::vector<StoreOp> ops;
  for (const Value& op : step["ops"]) ops.push_back(read_op(op));
  ListBuilder results;
  for (const StoreResult& result : store_->batch(ops)) {
    results.push_back(describe_result(result));
  }
  return std::move(results).build();
}

// A store in memory shows its items; how it keeps vectors is its own affair.
Value ScriptedStore::dump_rows() {
  if (is_sqlite_) return dump_file(file_, has_index_);
  std::set<std::tuple<std::string, std::string, Value>> sorted;
  for (const SearchItem& item : store_->search({}, {.limit = 10'000})) {
    std::string prefix;
    for (const std::string_view label : item.namespace_) {
      if (!prefix.empty()) prefix += '.';
      prefix += label;
    }
    sorted.emplace(prefix, item.key, item.value);
  }
  ListBuilder rows;
  for (const auto& [prefix, key, value] : sorted) rows.push_back(list({prefix, key, value}));
  return object({{"store", std::move(rows).build()}});
}

}  // namespace clew::interop
