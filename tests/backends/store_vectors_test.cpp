// The recorded scripts of tests/data/vectors/store.json: what LangGraph's own
// stores answer, call by call.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "store_suite.hpp"

namespace clew {
namespace {

// Answers that are better than the recorded ones on purpose.
struct Improvement {
  std::string_view backend;  // empty: all
  std::string_view sequence;
  std::size_t step;
};
constexpr Improvement kImprovements[] = {
    // Reading or emptying a namespace leaves nothing of it behind.
    {"memory", "crud", 13},
    {"memory", "namespace_validation", 24},
    {"memory", "list_namespaces", 33},
    // Items that share a text are stored like any others.
    {"memory", "semantic_same_text_in_batch", 0},
    {"memory", "semantic_same_text_in_batch", 1},
    {"memory", "semantic_same_text_in_batch", 2},
    // "$" is the whole value also in the index of a single put.
    {"memory", "semantic_put_index", 16},
    // A replaced item is found by what it holds, not by what it held.
    {"", "semantic_replace", 3},
    {"", "semantic_replace", 7},
};

bool is_for(const Improvement& improvement, std::string_view backend) {
  return improvement.backend.empty() || improvement.backend == backend;
}

bool is_improved(std::string_view backend, std::string_view sequence, std::size_t step) {
  return std::ranges::any_of(kImprovements, [&](const Improvement& improvement) {
    return is_for(improvement, backend) && improvement.sequence == sequence &&
           improvement.step == step;
  });
}

Value read_vectors(const std::string& name) {
  std::ifstream file(std::filesystem::path(CLEW_TEST_DATA_DIR) / "vectors" / name);
  std::stringstream text;
  text << file.rdbuf();
  return parse_json(text.str());
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

Value describe(const StoreResult& result) {
  if (const auto* item = std::get_if<std::optional<Item>>(&result)) {
    return *item ? describe(**item) : Value();
  }
  if (const auto* items = std::get_if<std::vector<SearchItem>>(&result)) return describe(*items);
  if (const auto* listed = std::get_if<std::vector<StoreNamespace>>(&result)) return *listed;
  return nullptr;
}

StoreNamespace read_namespace(const Value& labels) {
  return labels.is_null() ? StoreNamespace() : labels.get<StoreNamespace>();
}

PutOptions put_options(const Value& step) {
  PutOptions options;
  if (step["index"] == Value(false)) options.index.emplace();
  if (step["index"].is_list()) options.index = step["index"].get<std::vector<std::string>>();
  if (!step["ttl"].is_null()) {
    options.ttl = std::chrono::milliseconds(std::lround(step["ttl"].as_double() * 60'000));
  }
  return options;
}

SearchOptions search_options(const Value& step) {
  SearchOptions options{.filter = step["filter"]};
  if (!step["query"].is_null()) options.query = step.get<std::string>("query");
  if (!step["limit"].is_null()) options.limit = step.get<std::size_t>("limit");
  if (!step["offset"].is_null()) options.offset = step.get<std::size_t>("offset");
  return options;
}

ListNamespacesOptions list_options(const Value& step) {
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
                 put_options(step)};
  }
  if (op == "search") return SearchOp{read_namespace(step["prefix"]), search_options(step)};
  return ListNamespacesOp{list_options(step)};
}

Value run_batch(Store& store, const Value& step) {
  std::vector<StoreOp> ops;
  for (const Value& op : step["ops"]) ops.push_back(read_op(op));
  ListBuilder results;
  for (const StoreResult& result : store.batch(ops)) results.push_back(describe(result));
  return std::move(results).build();
}

// All items as rows, sorted. How a backend keeps vectors is its own affair.
Value dump_rows(Store& store) {
  std::set<std::tuple<std::string, std::string, Value>> sorted;
  for (const SearchItem& item : store.search({}, {.limit = 10'000})) {
    std::string prefix;
    for (const std::string& label : item.namespace_) prefix += (prefix.empty() ? "" : ".") + label;
    sorted.emplace(prefix, item.key, item.value);
  }
  ListBuilder rows;
  for (const auto& [prefix, key, value] : sorted) rows.push_back(list({prefix, key, value}));
  return object({{"store", std::move(rows).build()}});
}

Value perform(Store& store, const Value& step) {
  const std::string_view op = step["op"].as_string();
  if (op == "dump_rows") return dump_rows(store);
  if (op == "batch") return run_batch(store, step);
  const StoreNamespace ns = read_namespace(step["ns"]);
  if (op == "put") {
    store.put(ns, step["key"].as_string(), step["value"], put_options(step));
    return nullptr;
  }
  if (op == "delete") {
    store.delete_item(ns, step["key"].as_string());
    return nullptr;
  }
  if (op == "get") {
    const auto item = store.get(ns, step["key"].as_string());
    if (!item) return nullptr;
    return describe(*item).set("created_eq_updated", item->created_at == item->updated_at);
  }
  if (op == "search") {
    return describe(store.search(read_namespace(step["prefix"]), search_options(step)));
  }
  if (op == "list_namespaces") return store.list_namespaces(list_options(step));
  throw ValueError("unknown step " + std::string(op));
}

// What a step gave, with the name of Python's error for ours.
Value outcome(Store& store, const Value& step) {
  try {
    return object({{"ok", perform(store, step)}});
  } catch (const InvalidNamespaceError&) {
    return object({{"error", "InvalidNamespaceError"}});
  } catch (const BadArgumentError&) {
    return object({{"error", "NotImplementedError"}});
  } catch (const ValueError&) {
    return object({{"error", "ValueError"}});
  }
}

bool names(const Value& backends, const std::string& name) {
  return std::find(backends.begin(), backends.end(), Value(name)) != backends.end();
}

// The items of a search; where several orders are right, one of them.
std::vector<Value> items_of(const Value& result, bool is_ordered) {
  std::vector<Value> items(result.begin(), result.end());
  if (is_ordered) return items;
  std::ranges::sort(items, [](const Value& a, const Value& b) {
    const auto rank = [](const Value& item) {
      return item["score"].is_double() ? std::round(item["score"].as_double() * -1e5) : 1.0;
    };
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.erase("score") < b.erase("score");
  });
  return items;
}

// `actual` with the scores of `wanted` where they differ by rounding only.
void adopt_close_scores(std::vector<Value>& actual, const std::vector<Value>& wanted) {
  constexpr double kTolerance = 2e-6;
  for (std::size_t i = 0; i < std::min(actual.size(), wanted.size()); ++i) {
    const Value& score = wanted[i]["score"];
    if (!actual[i]["score"].is_double() || !score.is_double()) continue;
    const double difference = actual[i]["score"].as_double() - score.as_double();
    if (std::abs(difference) <= kTolerance) actual[i] = actual[i].set("score", score);
  }
}

std::string text_of(const std::vector<Value>& items) {
  return to_json(Value(items), {.sort_keys = true});
}

// Both as texts that are equal if the outcomes are.
std::pair<std::string, std::string> comparable(const Value& actual, const Value& wanted,
                                               bool is_ordered) {
  if (!actual["ok"].is_list() || !wanted["ok"].is_list()) {
    return {text_of({actual}), text_of({wanted})};
  }
  std::vector<Value> actual_items = items_of(actual["ok"], is_ordered);
  const std::vector<Value> wanted_items = items_of(wanted["ok"], is_ordered);
  adopt_close_scores(actual_items, wanted_items);
  return {text_of(actual_items), text_of(wanted_items)};
}

Value expected(const Value& step, const std::string& backend) {
  const Value& expect = step["expect"];
  const Value wanted = expect[expect.contains("all") ? "all" : backend];
  if (wanted.contains("error")) {
    const bool is_type_error = wanted["error"] == Value("TypeError");
    return object({{"error", is_type_error ? Value("ValueError") : wanted["error"]}});
  }
  return step["op"] == Value("dump_rows")
             ? object({{"ok", object({{"store", wanted["ok"]["store"]}})}})
             : wanted;
}

bool has_number_label(const Value& step) {
  return step["ns"].is_list() && !step["ns"].empty() && !step["ns"][0].is_string();
}

TEST_P(StoreSuite, AnswersTheRecordedScriptsAsLangGraphDoes) {
  const std::string& backend = GetParam().name;
  const Value vectors = read_vectors("store.json");
  ASSERT_EQ(vectors["format"], Value("store-vectors/1"));
  std::size_t compared = 0;
  std::ptrdiff_t improved = 0;
  for (const Value& sequence : vectors["sequences"]) {
    if (!names(sequence["backends"], backend)) continue;
    std::shared_ptr<Store> store = make();
    if (const Value* index = sequence.find("index")) {
      store = index->contains("fields")
                  ? make_indexed(index->get<std::vector<std::string>>("fields"))
                  : make_indexed();
    }
    std::size_t number = 0;
    for (const Value& step : sequence["steps"]) {
      const std::size_t at = number++;
      if (step["op"] == Value("sleep")) GetParam().wait(step["seconds"].as_double());
      // A label that is no text cannot even be said in C++.
      if (step["op"] == Value("sleep") || has_number_label(step)) continue;
      const Value actual = outcome(*store, step);
      const Value wanted = expected(step, backend);
      const bool is_ordered =
          !names(step["unordered"], backend) && !names(step["score_ties"], backend);
      const auto [actual_text, wanted_text] = comparable(actual, wanted, is_ordered);
      const std::string place = std::string(sequence["name"].as_string()) + " step " +
                                std::to_string(at) + ": " + to_json(step.erase("expect"));
      if (is_improved(backend, sequence["name"].as_string(), at)) {
        ++improved;
        EXPECT_NE(actual_text, wanted_text) << "no improvement any more: " << place;
      } else {
        EXPECT_EQ(actual_text, wanted_text) << place;
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 200U);
  EXPECT_EQ(improved, std::ranges::count_if(kImprovements, [&](const Improvement& improvement) {
              return is_for(improvement, backend);
            }));
}

}  // namespace
}  // namespace clew
