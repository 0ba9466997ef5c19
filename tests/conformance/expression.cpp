#include "expression.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <clew/errors.hpp>
#include <clew/extension.hpp>
#include <clew/messages.hpp>

#include "python.hpp"
#include "scenario.hpp"

namespace clew::conformance {
namespace {

// What stands for `argument` in an expression; `whole` is the object around it.
using Operator = Value (*)(Frame& frame, const Value& argument, const Value& whole);

Runtime& runtime_of(Frame& frame, std::string_view operation) {
  if (!frame.runtime) throw ScenarioError(std::string(operation) + " outside of a body");
  return *frame.runtime;
}

Value element_at(const Value& list, std::int64_t index) {
  const auto size = static_cast<std::int64_t>(list.size());
  if (index < 0) index += size;
  return index >= 0 && index < size ? list[index] : Value();
}

Value field_of(const Value& value, const Value& key) {
  if (is_message(value)) return field_of(message_fields(value), key);
  if (value.is_object() && key.is_string()) return value[key.as_string()];
  if (value.is_list() && key.is_int()) return element_at(value, key.as_int());
  return {};
}

Value state_at(Frame& frame, const Value& path, const Value&) {
  Value found = frame.input;
  std::string_view rest = path.as_string();
  while (true) {
    const std::size_t dot = rest.find('.');
    found = field_of(found, rest.substr(0, dot));
    if (dot == std::string_view::npos) return found;
    rest.remove_prefix(dot + 1);
  }
}

Value input(Frame& frame, const Value&, const Value&) { return frame.input; }

Value variable(Frame& frame, const Value& name, const Value&) {
  const auto found = frame.variables.find(name.as_string());
  return found == frame.variables.end() ? Value() : found->second;
}

Value context(Frame& frame, const Value& key, const Value&) {
  return runtime_of(frame, "$ctx").context()[key.as_string()];
}

Value previous(Frame& frame, const Value&, const Value&) {
  return runtime_of(frame, "$previous").previous();
}

Value run_number(Frame& frame, const Value&, const Value&) { return frame.run; }

Value failure(Frame& frame, const Value& part, const Value&) {
  const NodeFailure& failure = runtime_of(frame, "$error").failure();
  if (part == Value("node")) return failure.node;
  const auto error = parse_python_error(failure.text);
  if (!error) throw ScenarioError("the error '" + failure.text + "' is not in Python's form");
  if (part == Value("kind")) return error->class_name;
  return error->message.value_or(error->argument);
}

Value literal(Frame&, const Value& value, const Value&) { return value; }

Value fold(Frame& frame, const Value& operands) {
  Value result = evaluate(frame, operands.at(0));
  for (std::size_t i = 1; i < operands.size(); ++i) {
    result = python_add(result, evaluate(frame, operands[i]));
  }
  return result;
}

Value add(Frame& frame, const Value& operands, const Value&) { return fold(frame, operands); }

Value subtract(Frame& frame, const Value& operands, const Value&) {
  return python_subtract(evaluate(frame, operands.at(0)), evaluate(frame, operands.at(1)));
}

Value multiply(Frame& frame, const Value& operands, const Value&) {
  return python_multiply(evaluate(frame, operands.at(0)), evaluate(frame, operands.at(1)));
}

Value length(Frame& frame, const Value& operand, const Value&) {
  const Value value = evaluate(frame, operand);
  return value.is_null() ? Value(0) : Value(python_length(value));
}

Value equal(Frame& frame, const Value& operands, const Value&) {
  return python_equal(evaluate(frame, operands.at(0)), evaluate(frame, operands.at(1)));
}

Value less(Frame& frame, const Value& operands, const Value&) {
  return python_less(evaluate(frame, operands.at(0)), evaluate(frame, operands.at(1)));
}

Value negate(Frame& frame, const Value& operand, const Value&) {
  return !is_true(evaluate(frame, operand));
}

Value all(Frame& frame, const Value& operands, const Value&) {
  return std::all_of(operands.begin(), operands.end(),
                     [&](const Value& operand) { return is_true(evaluate(frame, operand)); });
}

Value any(Frame& frame, const Value& operands, const Value&) {
  return std::any_of(operands.begin(), operands.end(),
                     [&](const Value& operand) { return is_true(evaluate(frame, operand)); });
}

Value choose(Frame& frame, const Value& operands, const Value&) {
  const bool condition = is_true(evaluate(frame, operands.at(0)));
  return evaluate(frame, operands.at(condition ? 1 : 2));
}

Value or_default(Frame& frame, const Value& operands, const Value&) {
  const Value value = evaluate(frame, operands.at(0));
  return value.is_null() ? evaluate(frame, operands.at(1)) : value;
}

Value field(Frame& frame, const Value& operands, const Value&) {
  return field_of(evaluate(frame, operands.at(0)), evaluate(frame, operands.at(1)));
}

Value text(Frame& frame, const Value& operand, const Value&) {
  return python_text(evaluate(frame, operand));
}

Value map(Frame& frame, const Value& operands, const Value&) {
  const Value source = evaluate(frame, operands.at(0));
  const Value elements = is_true(source) ? python_elements(source) : list();
  const std::string name = operands.get<std::string>(1);
  const Value saved = frame.variables[name];
  ListBuilder result;
  for (const Value& element : elements) {
    frame.variables[name] = element;
    result.push_back(evaluate(frame, operands.at(2)));
  }
  frame.variables[name] = saved;
  return std::move(result).build();
}

Value sort(Frame& frame, const Value& operand, const Value&) {
  const Value elements = python_elements(evaluate(frame, operand));
  std::vector<Value> sorted(elements.begin(), elements.end());
  std::stable_sort(sorted.begin(), sorted.end(), python_less);
  return sorted;
}

Value send(Frame& frame, const Value& node, const Value& whole) {
  return Send{evaluate(frame, node).get<std::string>(), evaluate(frame, whole["arg"])};
}

Value overwrite(Frame& frame, const Value& operand, const Value&) {
  return Overwrite{evaluate(frame, operand)};
}

Value message(Frame& frame, const Value& fields, const Value&) {
  const Value message = evaluate(frame, fields);
  const Value& type = message.contains("type") ? message["type"] : message["role"];
  if (type == Value("remove")) return RemoveMessage{.id = message.get<std::string>("id")};
  return convert_to_message(message);
}

Value command(Frame& frame, const Value& fields, const Value&) {
  ObjectBuilder values;
  for (const auto& [key, field] : fields.items()) {
    values.set(key, key == "graph" ? field : evaluate(frame, field));
  }
  return make_command(std::move(values).build());
}

const std::unordered_map<std::string_view, Operator>& operators() {
  static const std::unordered_map<std::string_view, Operator> table = {
      {"$state", state_at},
      {"$input", input},
      {"$var", variable},
      {"$ctx", context},
      {"$previous", previous},
      {"$run", run_number},
      {"$error", failure},
      {"$lit", literal},
      {"$concat", add},
      {"$add", add},
      {"$sub", subtract},
      {"$mul", multiply},
      {"$len", length},
      {"$eq", equal},
      {"$lt", less},
      {"$not", negate},
      {"$and", all},
      {"$or", any},
      {"$if", choose},
      {"$default", or_default},
      {"$field", field},
      {"$str", text},
      {"$map", map},
      {"$sort", sort},
      {"$send", send},
      {"$command", command},
      {"$overwrite", overwrite},
      {"$msg", message},
  };
  return table;
}

Value evaluate_list(Frame& frame, const Value& expressions) {
  ListBuilder result;
  for (const Value& expression : expressions) result.push_back(evaluate(frame, expression));
  return std::move(result).build();
}

Value evaluate_object(Frame& frame, const Value& expressions) {
  ObjectBuilder result;
  for (const auto& [key, expression] : expressions.items()) {
    if (!key.starts_with('$')) {
      result.set(key, evaluate(frame, expression));
      continue;
    }
    const auto found = operators().find(key);
    if (found == operators().end()) throw ScenarioError("unknown operator " + std::string(key));
    return found->second(frame, expression, expressions);
  }
  return std::move(result).build();
}

Goto make_goto(const Value& target) {
  if (is_send(target)) return Goto(target.get<Send>());
  return Goto(engine_name(target.get<std::string>()));
}

// Python tells goto="a" from goto=["a"], and stores what it was given.
Value with_single_goto(const Command& command, const Goto& target) {
  const Value value(command);
  const Extension extension = value.as_extension();
  return make_extension(extension.code, extension.module, extension.name,
                        extension.payload.set("goto", target.target()), extension.method);
}

}  // namespace

Value evaluate(Frame& frame, const Value& expression) {
  if (expression.is_list()) return evaluate_list(frame, expression);
  if (expression.is_object()) return evaluate_object(frame, expression);
  return expression;
}

Value evaluate(const Value& expression) {
  Frame frame;
  return evaluate(frame, expression);
}

Value make_command(const Value& fields) {
  Command command;
  command.update = fields["update"];
  command.resume = fields["resume"];
  if (const Value& graph = fields["graph"]; is_true(graph)) {
    command.graph = graph == Value("parent") ? Command::PARENT : graph.get<std::string>();
  }
  const Value& targets = fields["goto"];
  if (targets.is_list()) {
    for (const Value& target : targets) command.goto_.push_back(make_goto(target));
  } else if (!targets.is_null()) {
    return with_single_goto(command, make_goto(targets));
  }
  return command;
}

Value message_fields(const Value& message) {
  const Value& payload = message.as_extension().payload;
  const Value type = message_type(message);
  ObjectBuilder fields;
  fields.set("type", type);
  if (type != Value("remove")) fields.set("content", payload["content"]);
  fields.set("id", payload["id"]);
  if (is_true(payload["name"])) fields.set("name", payload["name"]);
  ListBuilder calls;
  for (const Value& call : payload["tool_calls"]) {
    calls.push_back(object({{"name", call["name"]}, {"args", call["args"]}, {"id", call["id"]}}));
  }
  if (calls.size() > 0) fields.set("tool_calls", std::move(calls).build());
  if (is_true(payload["tool_call_id"])) fields.set("tool_call_id", payload["tool_call_id"]);
  return std::move(fields).build();
}

}  // namespace clew::conformance
