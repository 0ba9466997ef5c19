#include "body.hpp"

#include <chrono>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <clew/errors.hpp>
#include <clew/functional.hpp>
#include <clew/store.hpp>

#include "expression.hpp"
#include "program.hpp"
#include "python.hpp"
#include "scenario.hpp"
#include "store_calls.hpp"

namespace clew::conformance {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int kMaxJitterMicroseconds = 4000;

void sleep_at_random() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  std::uniform_int_distribution<int> delay(0, kMaxJitterMicroseconds);
  std::this_thread::sleep_for(microseconds(delay(generator)));
}

class BodyRun {
 public:
  BodyRun(const Program& program, const Body& body, Frame frame)
      : program_(program), body_(body), frame_(std::move(frame)) {}

  // The returned value, if a `return` was reached.
  std::optional<Value> run_block(const Value& statements, const std::string& pointer) {
    for (std::size_t i = 0; i < statements.size(); ++i) {
      std::optional<Value> result = run(statements[i], pointer + "/" + std::to_string(i));
      if (result) return result;
    }
    return std::nullopt;
  }

 private:
  using Result = std::optional<Value>;
  struct Statement {
    std::string_view keyword;
    Result (BodyRun::*run)(const Value& statement, const std::string& pointer);
  };
  static const Statement kStatements[];

  Result run(const Value& statement, const std::string& pointer);

  Value eval(const Value& expression) { return evaluate(frame_, expression); }

  void save(const Value& statement, Value value) {
    if (const Value* name = statement.find("save")) {
      frame_.variables[name->get<std::string>()] = std::move(value);
    }
  }

  Store& store() const {
    Store* store = frame_.runtime->store();
    if (!store) throw Error("the graph was compiled without a store");
    return *store;
  }

  Result let(const Value& statement, const std::string&) {
    frame_.variables[statement.get<std::string>("let")] = eval(statement["be"]);
    return {};
  }

  Result interrupt(const Value& statement, const std::string&) {
    save(statement, frame_.runtime->interrupt(eval(statement["interrupt"])));
    return {};
  }

  Result emit(const Value& statement, const std::string&) {
    frame_.runtime->stream_writer(eval(statement["emit"]));
    return {};
  }

  Result fail(const Value& statement, const std::string& pointer) {
    const Value* condition = statement.find("when");
    if (condition && !is_true(eval(*condition))) return {};
    const Value* times = statement.find("times");
    const auto limit = times ? std::optional(times->as_int()) : std::nullopt;
    if (!program_.ledger().fire(pointer, limit)) return {};

    const Value* kind = statement.find("kind");
    const std::string name = kind ? kind->get<std::string>() : "Transient";
    throw NodeError(name, python_text(eval(statement["fail"])), /*retryable=*/name != "Fatal");
  }

  Result sleep(const Value& statement, const std::string&) {
    std::this_thread::sleep_for(milliseconds(statement.get<std::int64_t>("sleep_ms")));
    return {};
  }

  Result branch(const Value& statement, const std::string& pointer) {
    const std::string side = is_true(eval(statement["if"])) ? "then" : "else";
    return run_block(statement[side], pointer + "/" + side);
  }

  Result store_put(const Value& statement, const std::string&) {
    put_item(store(), eval(statement["store_put"]));
    return {};
  }

  Result store_get(const Value& statement, const std::string&) {
    save(statement, get_item(store(), eval(statement["store_get"]))["value"]);
    return {};
  }

  Result store_search(const Value& statement, const std::string&) {
    ListBuilder found;
    for (const Value& item : search_items(store(), eval(statement["store_search"]))) {
      found.push_back(object({{"key", item["key"]}, {"value", item["value"]}}));
    }
    save(statement, std::move(found).build());
    return {};
  }

  Result store_delete(const Value& statement, const std::string&) {
    delete_item(store(), eval(statement["store_delete"]));
    return {};
  }

  Result call_graph(const Value& statement, const std::string&) {
    const CompiledGraph& graph = program_.graph(statement.get<std::string>("call_graph"));
    save(statement, graph.invoke(eval(statement["input"]), *frame_.runtime));
    return {};
  }

  Future start_task(const Value& name, const Value& input) {
    const TaskFunction& task = program_.task(body_.graph, name.get<std::string>());
    return task(*frame_.runtime, eval(input));
  }

  Result call_task(const Value& statement, const std::string&) {
    save(statement, start_task(statement["call_task"], statement["input"]).result());
    return {};
  }

  Result call_tasks(const Value& statement, const std::string&) {
    std::vector<Future> futures;
    for (const Value& call : statement["call_tasks"]) {
      futures.push_back(start_task(call["task"], call["input"]));
    }
    ListBuilder results;
    for (const Future& future : futures) results.push_back(future.result());
    save(statement, std::move(results).build());
    return {};
  }

  Result give_back(const Value& statement, const std::string&) { return eval(statement["return"]); }

  Result give_back_final(const Value& statement, const std::string&) {
    const Value parts = eval(statement["return_final"]);
    return Value(Final{parts["value"], parts["save"]});
  }

  const Program& program_;
  const Body& body_;
  Frame frame_;
};

const BodyRun::Statement BodyRun::kStatements[] = {
    {"let", &BodyRun::let},
    {"interrupt", &BodyRun::interrupt},
    {"emit", &BodyRun::emit},
    {"fail", &BodyRun::fail},
    {"sleep_ms", &BodyRun::sleep},
    {"store_put", &BodyRun::store_put},
    {"store_get", &BodyRun::store_get},
    {"store_search", &BodyRun::store_search},
    {"store_delete", &BodyRun::store_delete},
    {"call_graph", &BodyRun::call_graph},
    {"call_tasks", &BodyRun::call_tasks},
    {"call_task", &BodyRun::call_task},
    {"if", &BodyRun::branch},
    {"return", &BodyRun::give_back},
    {"return_final", &BodyRun::give_back_final},
};

BodyRun::Result BodyRun::run(const Value& statement, const std::string& pointer) {
  for (const Statement& candidate : kStatements) {
    if (statement.contains(candidate.keyword)) return (this->*candidate.run)(statement, pointer);
  }
  throw ScenarioError("unknown statement at " + pointer);
}

}  // namespace

Value run_body(const Program& program, const Body& body, const Value& input, Runtime& runtime) {
  Frame frame{.input = input, .runtime = &runtime, .run = program.ledger().start(body.name)};
  if (program.has_jitter()) sleep_at_random();
  BodyRun run(program, body, std::move(frame));
  return run.run_block(body.statements, body.pointer).value_or(Value());
}

}  // namespace clew::conformance
