#include "store_vectors.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <clew/json.hpp>

#include "store_steps.hpp"

namespace clew::interop {
namespace {

bool names(const Value& list, std::string_view name) {
  return list.is_list() && std::find(list.begin(), list.end(), Value(name)) != list.end();
}

// Where Clew does better -------------------------------------------------------

bool has_index(const Value& sequence) { return sequence.contains("index"); }

bool lists_namespaces(const Value&, const Value& step) {
  return step["op"] == Value("list_namespaces");
}

bool is_indexed(const Value& sequence, const Value&) { return has_index(sequence); }

bool asks_by_meaning(const Value& sequence, const Value& step) {
  return has_index(sequence) && step.contains("query");
}

bool names_fields(const Value& sequence, const Value&) {
  return sequence["index"].contains("fields");
}

bool names_distance(const Value& sequence, const Value& step) {
  return sequence["index"].contains("distance_type") && step.contains("query");
}

bool is_nested(const Value& condition) {
  if (!condition.is_object()) return false;
  for (const auto& [name, operand] : condition.items()) {
    if (!name.starts_with('$')) return true;
  }
  return false;
}

bool is_plain_key(std::string_view key) {
  return std::ranges::all_of(
      key, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

// In SQL a key is a path, and must look like one.
bool filters_more_than_sql(const Value&, const Value& step) {
  if (!step["filter"].is_object()) return false;
  for (const auto& [key, condition] : step["filter"].items()) {
    if (is_nested(condition) || !is_plain_key(key)) return true;
  }
  return false;
}

bool lists_no_labels(const Value&, const Value& step) { return step["max_depth"] == Value(0); }

// A recorded answer that Clew does not give on purpose, and the store that was
// recorded with the one it gives.
struct Improvement {
  std::string_view backend;
  bool (*applies)(const Value& sequence, const Value& step);
  std::string_view answers_like;
  std::string_view reason;
};
constexpr Improvement kImprovements[] = {
    {"memory", lists_namespaces, "sqlite", "reading or emptying a namespace leaves nothing of it"},
    {"memory", is_indexed, "sqlite", "items with the same text in one batch are stored"},
    {"memory", is_indexed, "postgres", "'$' is the whole value also in the index of one put"},
    {"memory", names_distance, "postgres", "the distance that was chosen is the one that counts"},
    {"sqlite", names_distance, "postgres", "the distance that was chosen is the one that counts"},
    {"sqlite", names_fields, "memory", "the index has the fields that were chosen"},
    {"sqlite", asks_by_meaning, "memory", "all pages are there, at the end what has no vectors"},
    {"sqlite", filters_more_than_sql, "memory", "any key, and nested objects entry by entry"},
    {"sqlite", lists_no_labels, "memory", "a namespace that was cut to nothing has no label"},
};

// What no recorded store gets right, seen while a script runs: old vectors do not
// find an item that was replaced or removed, "$" is the whole value in the index
// of one put as well, and what has expired is gone.
class History {
 public:
  explicit History(const Value& sequence) : ttl_(sequence["ttl"]["default_ttl"]) {}

  void add(const Value& step) {
    const std::string_view op = step["op"].as_string();
    if (op == "sleep") slept_ += step["seconds"].as_double();
    if (op == "batch") {
      for (const Value& inner : step["ops"]) add(inner);
    }
    if (op != "put" && op != "delete") return;
    const Name name = name_of(step);
    swept_.erase(name);
    if (!known_.insert(name).second) replaced_.insert(name);
    if (names(step["index"], "$")) whole_.insert(name);
    const Value& ttl = step.contains("ttl") ? step["ttl"] : ttl_;
    if (op == "delete" || ttl.is_null()) {
      dies_.erase(name);
    } else {
      dies_[name] = slept_ + ttl.as_double() * kSecondsPerMinute;
    }
  }

  bool is_replaced(const Value& item) const { return replaced_.contains(name_of(item)); }
  bool is_whole(const Value& item) const { return whole_.contains(name_of(item)); }

  // Whether its vectors are others than recorded.
  bool has_other_vectors(const Value& prefix, const Value& key) const {
    const auto is_it = [&](const Name& name) {
      return name.second == key && joined(name.first) == prefix.as_string();
    };
    return std::ranges::any_of(replaced_, is_it) || std::ranges::any_of(whole_, is_it);
  }

  bool is_expired(const Value& item) const {
    const auto found = dies_.find(name_of(item));
    return found != dies_.end() && found->second < slept_;
  }

  // How many a sweep finds now.
  std::int64_t sweep() {
    return static_cast<std::int64_t>(std::erase_if(dies_, [this](const auto& entry) {
      if (entry.second >= slept_) return false;
      swept_.insert(entry.first);
      return true;
    }));
  }
  bool is_swept(const Value& item) const { return swept_.contains(name_of(item)); }

 private:
  static constexpr double kSecondsPerMinute = 60;
  using Name = std::pair<Value, Value>;  // namespace and key

  static Name name_of(const Value& item) { return {item["ns"], item["key"]}; }
  static std::string joined(const Value& ns) {
    std::string text;
    for (const Value& label : ns) text += (text.empty() ? "" : ".") + label.get<std::string>();
    return text;
  }

  const Value ttl_;
  double slept_ = 0;
  std::set<Name> known_;
  std::set<Name> replaced_;
  std::set<Name> whole_;
  std::set<Name> swept_;
  std::map<Name, double> dies_;
};

// Comparing ----------------------------------------------------------------------

// An answer in a form in which equal ones have equal texts.
class Answers {
 public:
  Answers(const Value& sequence, const std::string& backend, const History& history)
      : has_index_(has_index(sequence)), backend_(backend), history_(history) {}

  Value wanted(const Value& step, const Value& recorded) const {
    if (recorded.contains("error")) {
      const bool is_type_error = recorded["error"] == Value("TypeError");
      return object({{"error", is_type_error ? Value("ValueError") : recorded["error"]}});
    }
    const Value& ok = recorded["ok"];
    if (step["op"] == Value("get") && is_gone(step)) return object({{"ok", nullptr}});
    if (step["op"] == Value("dump_rows")) return object({{"ok", comparable_rows(ok)}});
    return object({{"ok", without_gone_items(ok)}});
  }

  Value got(const Value& step, const Value& answer) const {
    if (step["op"] != Value("dump_rows")) return answer;
    return object({{"ok", comparable_rows(answer["ok"])}});
  }

  bool are_same(const Value& step, const Value& wanted, const Value& got) const {
    const std::string_view op = step["op"].as_string();
    const bool are_lists = wanted["ok"].is_list() && got["ok"].is_list();
    if (op == "dump_rows") return are_same_rows(wanted["ok"], got["ok"]);
    if (op == "search" && are_lists) return are_same_items(step, wanted["ok"], got["ok"]);
    if (op == "batch" && are_lists) return are_same_results(wanted["ok"], got["ok"]);
    return text_of(wanted) == text_of(got);
  }

 private:
  bool is_gone(const Value& item) const {
    return history_.is_expired(item) || history_.is_swept(item);
  }

  Value without_gone_items(const Value& ok) const {
    if (!ok.is_list()) return ok;
    ListBuilder kept;
    for (const Value& item : ok) {
      if (!item.is_object() || !is_gone(item)) kept.push_back(item);
    }
    return std::move(kept).build();
  }

  // Of memory only the items, how it keeps vectors is its own affair.
  Value comparable_rows(const Value& rows) const {
    if (backend_ == "memory") return object({{"store", rows["store"]}});
    if (!rows.contains("vectors")) return rows;
    ListBuilder vectors;
    for (const Value& row : rows["vectors"]) {
      if (!history_.has_other_vectors(row[0], row[1])) vectors.push_back(row);
    }
    return rows.set("vectors", std::move(vectors).build());
  }

  // What a store was not asked for when it was recorded is not compared.
  static bool are_same_rows(const Value& wanted, const Value& got) {
    for (const auto& [name, rows] : wanted.items()) {
      if (text_of(rows) != text_of(got[name])) return false;
    }
    return true;
  }

  bool are_same_items(const Value& step, const Value& wanted, const Value& got) const {
    // What was replaced may have had a better or worse score before.
    const bool any_replaced =
        has_index_ && std::any_of(wanted.begin(), wanted.end(),
                                  [&](const Value& item) { return history_.is_replaced(item); });
    const bool is_ordered = !names(step["unordered"], backend_) && !any_replaced &&
                            (step.contains("query") || backend_ == "memory");
    std::vector<Value> wanted_items(wanted.begin(), wanted.end());
    std::vector<Value> got_items(got.begin(), got.end());
    // Items that were not found when it was recorded push others off the page.
    const std::size_t more = std::erase_if(got_items, [&](const Value& item) {
      return history_.is_whole(item) && !has_item(wanted, item);
    });
    if (wanted_items.size() < got_items.size() || wanted_items.size() > got_items.size() + more) {
      return false;
    }
    wanted_items.resize(got_items.size());
    if (!is_ordered) {
      sort_by_name(wanted_items);
      sort_by_name(got_items);
    } else if (names(step["score_ties"], backend_) || backend_ == "sqlite") {
      sort_ties(wanted_items);
      sort_ties(got_items);
    }
    return std::ranges::equal(wanted_items, got_items, [&](const Value& a, const Value& b) {
      return text_of(a.erase("score")) == text_of(b.erase("score")) &&
             (history_.is_replaced(a) || is_same_score(a["score"], b["score"]));
    });
  }

  bool are_same_results(const Value& wanted, const Value& got) const {
    if (wanted.size() != got.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const bool are_items = wanted[i].is_list() && !wanted[i].empty() && wanted[i][0].is_object();
      const bool is_same = are_items && got[i].is_list()
                               ? are_same_items(object({}), wanted[i], got[i])
                               : text_of(wanted[i]) == text_of(got[i]);
      if (!is_same) return false;
    }
    return true;
  }

  static bool has_item(const Value& items, const Value& wanted) {
    return std::any_of(items.begin(), items.end(), [&](const Value& item) {
      return item["ns"] == wanted["ns"] && item["key"] == wanted["key"];
    });
  }

  static bool is_same_score(const Value& a, const Value& b) {
    constexpr double kTolerance = 2e-6;
    if (a.is_null() || b.is_null()) return a.is_null() && b.is_null();
    return std::abs(a.as_double() - b.as_double()) <= kTolerance;
  }

  static void sort_by_name(std::vector<Value>& items) {
    std::ranges::sort(items, {}, [](const Value& item) { return text_of(item.erase("score")); });
  }

  static void sort_ties(std::vector<Value>& items) {
    std::ranges::stable_sort(items, {}, [](const Value& item) {
      const bool has_score = !item["score"].is_null();
      return std::pair(has_score ? -std::round(item["score"].as_double() * 1e5) : 1e9,
                       text_of(item.erase("score")));
    });
  }

  static std::string text_of(const Value& value) { return to_json(value, {.sort_keys = true}); }

  const bool has_index_;
  const std::string& backend_;
  const History& history_;
};

const Value& recorded_answer(const Value& step, std::string_view backend) {
  const Value& expect = step["expect"];
  return expect.contains("all") ? expect["all"] : expect[backend];
}

Value ranked_only(const Value& items) {
  ListBuilder ranked;
  for (const Value& item : items) {
    if (!item["score"].is_null()) ranked.push_back(item);
  }
  return std::move(ranked).build();
}

void expect_recorded(const Answers& answers, const std::string& backend, const Value& sequence,
                     const Value& step, const Value& answer) {
  const Value got = answers.got(step, answer);
  const Value wanted = answers.wanted(step, recorded_answer(step, backend));
  if (answers.are_same(step, wanted, got)) return;
  // LangGraph's store in a file gives nothing behind the ranked items.
  if (backend == "sqlite" && asks_by_meaning(sequence, step) &&
      answers.are_same(step, wanted, object({{"ok", ranked_only(got["ok"])}}))) {
    return;
  }
  for (const Improvement& improvement : kImprovements) {
    if (improvement.backend != backend || !improvement.applies(sequence, step)) continue;
    const Value& other = recorded_answer(step, improvement.answers_like);
    if (!other.is_null() && answers.are_same(step, answers.wanted(step, other), got)) return;
  }
  expect_equal("answer", to_json(wanted), to_json(got));
  throw Mismatch("the answer has another order or score than recorded: " + to_json(got));
}

// A label that is no text cannot even be said in C++.
bool can_be_said(const Value& step) {
  const Value& ns = step["ns"];
  return !ns.is_list() ||
         std::all_of(ns.begin(), ns.end(), [](const Value& label) { return label.is_string(); });
}

void run_sequence(const Value& sequence, const std::string& backend,
                  const std::filesystem::path& folder, Report& report) {
  ScriptedStore store(backend, sequence, folder);
  History history(sequence);
  const Answers answers(sequence, backend, history);
  std::size_t number = 0;
  for (const Value& step : sequence["steps"]) {
    const std::string name = sequence.get<std::string>("name") + " step " +
                             std::to_string(number++) + " " + step.get<std::string>("op");
    if (!can_be_said(step)) continue;
    const Value answer = store.run(step);
    history.add(step);
    if (step["op"] == Value("sleep")) continue;
    report.run(name, [&] {
      if (step["op"] == Value("sweep_ttl")) {
        expect_equal("removed", std::to_string(history.sweep()), to_json(answer["ok"]));
      } else {
        expect_recorded(answers, backend, sequence, step, answer);
      }
    });
  }
}

}  // namespace

void run_store(const Value& vectors, const std::string& backend,
               const std::filesystem::path& folder, Report& report) {
  for (const Value& sequence : vectors["sequences"]) {
    if (names(sequence["backends"], backend)) run_sequence(sequence, backend, folder, report);
  }
}

}  // namespace clew::interop
