#include "recorded_store.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include <clew/json.hpp>
#include <clew/sqlite_store.hpp>
#include <clew/time.hpp>

#include "store_steps.hpp"
#include "temporary_folder.hpp"

namespace clew::interop {
namespace {

using Row = std::tuple<std::string, std::string, std::string>;  // prefix, key, value

std::string joined(const StoreNamespace& ns) {
  std::string text;
  for (const std::string_view label : ns) {
    if (!text.empty()) text += '.';
    text += label;
  }
  return text;
}

std::string describe_rows(const std::set<Row>& rows) {
  ListBuilder described;
  for (const auto& [prefix, key, value] : rows) described.push_back(list({prefix, key, value}));
  return to_json(std::move(described).build());
}

void check_rows(SqliteStore& store, const Value& expected) {
  std::set<Row> wanted;
  for (const Value& row : expected) {
    wanted.emplace(row[0].get<std::string>(), row[1].get<std::string>(),
                   to_json(parse_json(row[2].as_string())));
  }
  std::set<Row> got;
  for (const SearchItem& item : store.search({}, {.limit = wanted.size() + 1})) {
    got.emplace(joined(item.namespace_), item.key, to_json(item.value));
  }
  expect_equal("rows", describe_rows(wanted), describe_rows(got));
}

void check_item(SqliteStore& store, const Value& expected) {
  const auto item = store.get(read_namespace(expected["ns"]), expected["key"].as_string());
  expect_true("it is there", item.has_value());
  expect_same_json("value", expected["value"], item->value);
  const auto time = [&](const char* name) { return parse_time(expected[name].as_string()); };
  expect_true("created_at", item->created_at == time("created_at"));
  expect_true("updated_at", item->updated_at == time("updated_at"));
}

void check_query(SqliteStore& store, const Value& query) {
  std::vector<SearchItem> found =
      store.search(read_namespace(query["prefix"]), read_search_options(query));
  std::erase_if(found, [](const SearchItem& item) { return !item.score; });
  const Value& results = query["results"];
  expect_equal("found", std::to_string(results.size()), std::to_string(found.size()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    constexpr double kTolerance = 2e-6;
    const std::string place = "result " + std::to_string(i);
    expect_same_json(place, results[i].erase("score"), describe(static_cast<Item&>(found[i])));
    expect_true(place + " score",
                std::abs(*found[i].score - results[i]["score"].as_double()) <= kTolerance);
  }
}

}  // namespace

void run_store_database(const std::filesystem::path& file, const Value& expected, Report& report) {
  const TemporaryFolder folder;
  const std::filesystem::path copy = folder.path / file.filename();
  std::filesystem::copy_file(file, copy);
  // The recorded items may have expired since; they are shown all the same.
  const auto store =
      SqliteStore::open(copy.string(), {.index = read_index(expected["index"]), .ttl = {}});
  report.run("rows", [&] { check_rows(*store, expected["store_rows"]); });
  for (const Value& item : expected["items"]) {
    report.run("item " + to_json(item["ns"]) + " " + item.get<std::string>("key"),
               [&] { check_item(*store, item); });
  }
  report.run("namespaces", [&] {
    expect_same_json("namespaces", expected["namespaces"], Value(store->list_namespaces()));
  });
  for (const Value& query : expected["queries"]) {
    report.run("query " + to_json(query.erase("results")), [&] { check_query(*store, query); });
  }
}

}  // namespace clew::interop
