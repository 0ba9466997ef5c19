// clew store: what programs remember across threads.
#include <algorithm>
#include <cstdio>
#include <ostream>

#include <clew/error.hpp>
#include <clew/json.hpp>
#include <clew/time.hpp>

#include "cli/commands.hpp"
#include "cli/conditions.hpp"
#include "cli/database.hpp"
#include "cli/near.hpp"
#include "cli/table.hpp"
#include "cli/value_view.hpp"

namespace clew::cli {
namespace {

// Labels have no dots, so dots stand between them: "ada.memories".
StoreNamespace namespace_of(const std::string& text) {
  std::vector<std::string> labels;
  std::size_t start = 0;
  while (start <= text.size() && !text.empty()) {
    const std::size_t end = std::min(text.find('.', start), text.size());
    labels.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return labels;
}

std::string namespace_text(const StoreNamespace& labels) {
  std::string text;
  for (const std::string_view label : labels) {
    if (!text.empty()) text += '.';
    text += label;
  }
  return text;
}

std::size_t limit_of(const Arguments& arguments) {
  constexpr std::size_t kAll = 1'000'000'000;
  const auto limit = static_cast<std::size_t>(arguments.number("limit"));
  return limit == 0 ? kAll : limit;
}

std::string time_text(const Item::Time& time) {
  std::string text = format_time(time);
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text.substr(0, 19);
}

std::string plural(std::size_t count, const char* noun) {
  return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string score_text(double score) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", score);
  return text;
}

// ls --------------------------------------------------------------------------------

int list_namespaces(Database& database, const Arguments& arguments, Console& console) {
  SqliteStore& store = database.store();
  ListNamespacesOptions options;
  options.prefix = namespace_of(arguments.text("prefix"));
  options.limit = limit_of(arguments);
  if (arguments.number("depth") > 0) {
    options.max_depth = static_cast<std::size_t>(arguments.number("depth"));
  }
  const std::vector<StoreNamespace> namespaces = store.list_namespaces(options);
  if (arguments.is_on("json")) {
    print_json(console, Value(namespaces));
    return 0;
  }
  for (const StoreNamespace& labels : namespaces) {
    console.out << console.styled(Style::cyan, one_line(namespace_text(labels))) << '\n';
  }
  console.out << plural(namespaces.size(), "namespace") << '\n';
  return 0;
}

// get -------------------------------------------------------------------------------

std::vector<std::string> keys_of(SqliteStore& store, const StoreNamespace& labels) {
  std::vector<std::string> keys;
  SearchOptions options;
  options.limit = 10'000;
  options.refresh_ttl = false;
  for (const SearchItem& item : store.search(labels, options)) {
    if (item.namespace_ == labels) keys.push_back(item.key);
  }
  return keys;
}

[[noreturn]] void throw_missing(SqliteStore& store, const StoreNamespace& labels,
                                const std::string& key) {
  const std::string name = namespace_text(labels);
  const std::vector<std::string> keys = keys_of(store, labels);
  if (!keys.empty()) {
    throw Error("there is no item '" + key + "' in '" + name + "'" + did_you_mean(key, keys));
  }
  std::vector<std::string> namespaces;
  ListNamespacesOptions options;
  options.limit = 10'000;
  for (const StoreNamespace& known : store.list_namespaces(options)) {
    namespaces.push_back(namespace_text(known));
  }
  throw Error("there is no namespace '" + name + "'" + did_you_mean(name, namespaces));
}

int get_item(Database& database, const Arguments& arguments, Console& console) {
  SqliteStore& store = database.store();
  const StoreNamespace labels = namespace_of(arguments.text("namespace"));
  const std::string key = arguments.text("key");
  // A look is no use that keeps an item alive.
  const auto item = store.get(labels, key, false);
  if (!item) throw_missing(store, labels, key);
  if (arguments.is_on("json")) {
    print_json(console, to_value(*item));
    return 0;
  }
  const auto field = [&](const char* name, const std::string& text) {
    console.out << console.styled(Style::bold, name) << one_line(text) << '\n';
  };
  field("namespace  ", namespace_text(item->namespace_));
  field("key        ", item->key);
  field("created    ", time_text(item->created_at));
  field("updated    ", time_text(item->updated_at));
  field("value", "");
  print_value(console, item->value, 2, {.full = true});
  return 0;
}

// search ----------------------------------------------------------------------------

int search_items(Database& database, const Arguments& arguments, Console& console) {
  SearchOptions options;
  options.query = arguments.text("query");
  options.mode = SearchMode::text;
  options.filter = parse_conditions(arguments.texts("filter"));
  options.limit = limit_of(arguments);
  options.refresh_ttl = false;
  const std::vector<SearchItem> items =
      database.store().search(namespace_of(arguments.text("prefix")), options);
  if (arguments.is_on("json")) {
    ListBuilder list;
    for (const SearchItem& item : items) list.push_back(to_value(item));
    print_json(console, std::move(list).build());
    return 0;
  }
  const bool has_scores = !options.query.empty();
  std::vector<Table::Column> columns = {{"NAMESPACE"}, {"KEY"}, {"UPDATED"}};
  if (has_scores) columns.push_back({"SCORE", Table::Align::right});
  columns.push_back({"VALUE", Table::Align::left, true});
  Table table(columns);
  for (const SearchItem& item : items) {
    std::vector<Table::Cell> cells = {{namespace_text(item.namespace_), Style::cyan},
                                      {item.key},
                                      {time_text(item.updated_at), Style::dim}};
    if (has_scores) cells.push_back({item.score ? score_text(*item.score) : "-"});
    cells.push_back({to_json(item.value)});
    table.add(std::move(cells));
  }
  table.print(console);
  console.out << plural(items.size(), "item") << '\n';
  return 0;
}

Flag limit_flag(const char* most) {
  return {"limit", "At most so many; 0 is all", Flag::Form::number, most, "COUNT"};
}

Command ls_command() {
  Command command;
  command.name = "ls";
  command.help = "List the namespaces that hold items";
  command.positionals = {{"prefix", "How they begin, labels separated by dots: ada.memories",
                          Positional::Form::optional}};
  command.flags = {
      {"depth", "Cut longer ones off after so many labels", Flag::Form::number, "0", "LABELS"},
      limit_flag("100")};
  return database_command(std::move(command), list_namespaces);
}

Command get_command() {
  Command command;
  command.name = "get";
  command.help = "Show an item";
  command.positionals = {{"namespace", "Its namespace, labels separated by dots: ada.memories"},
                         {"key", "Its key"}};
  return database_command(std::move(command), get_item);
}

Command search_command() {
  Command command;
  command.name = "search";
  command.help = "Find items by their words, by their entries, or all below a namespace";
  command.positionals = {
      {"prefix", "How their namespaces begin; all if it is not named", Positional::Form::optional}};
  command.flags = {
      {"query", "The words to look for; the best items come first", Flag::Form::text, "", "TEXT"},
      {"filter", "Only items whose value has this; may be given several times", Flag::Form::texts,
       "", "KEY=VALUE"},
      limit_flag("10")};
  return database_command(std::move(command), search_items);
}

}  // namespace

Command store_command() {
  Command command;
  command.name = "store";
  command.help = "Look into what programs remember across threads";
  command.commands = {ls_command(), get_command(), search_command()};
  return command;
}

}  // namespace clew::cli
