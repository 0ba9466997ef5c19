#include "plan.hpp"

#include <algorithm>

namespace clew::property {

const std::vector<ChannelPlan>& channel_plans() {
  static const std::vector<ChannelPlan> plans{{"last", ChannelKind::last},
                                              {"log", ChannelKind::append},
                                              {"sum", ChannelKind::add},
                                              {"map", ChannelKind::merge},
                                              {"messages", ChannelKind::messages},
                                              {"topic", ChannelKind::topic},
                                              {"all", ChannelKind::all},
                                              {"deltas", ChannelKind::delta},
                                              {"chat", ChannelKind::delta_messages}};
  return plans;
}

const NodePlan& Plan::node(std::string_view name) const {
  return *std::find_if(nodes.begin(), nodes.end(),
                       [&](const NodePlan& node) { return node.name == name; });
}

// Making one up --------------------------------------------------------------

namespace {

constexpr std::string_view kWorker = "w";

std::vector<std::string> some_of(Random& random, const std::vector<std::string>& from,
                                 std::size_t percent) {
  std::vector<std::string> chosen;
  for (const std::string& item : from) {
    if (random.chance(percent)) chosen.push_back(item);
  }
  return chosen;
}

NodePlan random_node(Random& random, std::string name, const std::vector<std::string>& followers) {
  NodePlan node;
  node.name = std::move(name);
  for (const ChannelPlan& channel : channel_plans()) {
    // Two nodes of a step that write `last` are an error; most should not be.
    if (random.chance(channel.kind == ChannelKind::last ? 15 : 40)) {
      node.writes.push_back(channel.name);
    }
  }
  if (random.chance(25)) node.questions = 1 + random.below(2);
  if (random.chance(15)) {
    node.is_subgraph = true;
    node.questions = std::min<std::size_t>(node.questions, 1);
  }
  node.edges = some_of(random, followers, 35);
  if (!node.is_subgraph && random.chance(15)) node.gotos = some_of(random, followers, 40);
  if (random.chance(25)) {
    node.choices = some_of(random, followers, 50);
    node.choices.push_back(END);
    node.sends = random.chance(60);
  }
  return node;
}

}  // namespace

Plan random_plan(Random& random) {
  Plan plan;
  plan.snapshot_frequency = 1 + static_cast<int>(random.below(4));
  std::vector<std::string> names;
  const std::size_t count = 2 + random.below(4);
  for (std::size_t i = 0; i < count; ++i) names.push_back("n" + std::to_string(i));
  for (std::size_t i = 0; i < count; ++i) {
    // Mostly forward, so that runs end; some cycles, which the recursion limit cuts.
    const std::size_t first = random.chance(15) ? 0 : std::min(i + 1, count);
    const std::vector<std::string> followers(names.begin() + static_cast<std::ptrdiff_t>(first),
                                             names.end());
    plan.nodes.push_back(random_node(random, names[i], followers));
  }
  NodePlan worker = random_node(random, std::string(kWorker), names);
  worker.is_subgraph = false;
  worker.choices.clear();
  worker.edges.clear();
  if (random.chance(20)) worker.edges.push_back(names.back());
  worker.gotos.clear();
  worker.sends = false;
  plan.nodes.push_back(std::move(worker));

  plan.entries = some_of(random, names, 30);
  if (plan.entries.empty()) plan.entries.push_back(names.front());
  if (count >= 3 && random.chance(40)) {
    plan.joins.push_back({{names[0], names[1]}, names.back()});
  }
  if (random.chance(20)) plan.interrupt_before = some_of(random, names, 40);
  if (random.chance(20)) plan.interrupt_after = some_of(random, names, 40);
  return plan;
}

namespace {

Value text(std::string_view prefix, std::size_t number) {
  return std::string(prefix) + std::to_string(number);
}

Value message(std::string_view author, std::size_t number) {
  return AIMessage{.content = text(author, number), .id = "m" + std::to_string(number % 5)};
}

Value random_write(Random& random, ChannelKind kind) {
  const std::size_t number = random.below(100);
  switch (kind) {
    case ChannelKind::last: return number;
    case ChannelKind::append:
      if (random.chance(10)) return Overwrite{list({"over", number})};
      return list({"in", number});
    case ChannelKind::add: return number % 7;
    case ChannelKind::merge:
      return object({{"in", number}, {text("k", number % 4).as_string(), 1}});
    case ChannelKind::messages: return list({message("in", number)});
    case ChannelKind::topic: return number;
    case ChannelKind::all: return list({number, number + 1});
    case ChannelKind::delta:
      if (random.chance(10)) return Overwrite{list({"over", number})};
      return list({"in", number});
    case ChannelKind::delta_messages:
      if (random.chance(20)) return RemoveMessage{.id = "m" + std::to_string(number % 5)};
      return list({message("in", number)});
  }
  return {};
}

}  // namespace

Value random_update(Random& random) {
  ObjectBuilder update;
  for (const ChannelPlan& channel : channel_plans()) {
    if (random.chance(30)) update.set(channel.name, random_write(random, channel.kind));
  }
  return std::move(update).build();
}

// What nodes do --------------------------------------------------------------

namespace {

std::size_t length(const Value& value) { return value.is_list() ? value.size() : 0; }
std::size_t number(const Value& value) {
  return value.is_int() ? static_cast<std::size_t>(value.as_int()) : 0;
}

// Changes from step to step, so that no two results of a node are alike.
std::size_t progress(const Value& input) {
  return length(input["log"]) + number(input["sum"]) + number(input["i"]) +
         3 * length(input["all"]) + 5 * length(input["deltas"]);
}

ChannelKind kind_of(std::string_view channel) {
  const auto& plans = channel_plans();
  return std::find_if(plans.begin(), plans.end(),
                      [&](const ChannelPlan& plan) { return plan.name == channel; })
      ->kind;
}

// Null where the node writes nothing this time.
Value node_write(const std::string& name, ChannelKind kind, const Value& input, std::size_t n) {
  const std::size_t luck = (n * 7 + name.back() + static_cast<std::size_t>(kind) * 3) % 11;
  switch (kind) {
    case ChannelKind::last: return text(name, n);
    case ChannelKind::append:
      if (luck == 0) return Overwrite{list({text("over", n)})};
      return list({text(name, n)});
    case ChannelKind::add: return 1 + luck % 3;
    case ChannelKind::merge: return object({{name, n}, {"any", name}});
    case ChannelKind::messages: {
      const Value& messages = input["messages"];
      if (luck == 0 && length(messages) > 0) {
        return RemoveMessage{.id = std::string(*message_id(messages[0]))};
      }
      return message(name, n);
    }
    case ChannelKind::topic: return luck < 3 ? list({name, n}) : text(name, n);
    case ChannelKind::all: return luck < 3 ? list() : Value(text(name, n));
    case ChannelKind::delta:
      if (luck == 0) return Overwrite{list({text("over", n)})};
      return luck < 3 ? Value() : list({text(name, n)});
    case ChannelKind::delta_messages:
      if (luck == 0) return RemoveMessage{.id = "m1"};
      return luck < 3 ? Value() : list({message(name, n), message(name, n + 2)});
  }
  return {};
}

}  // namespace

Value node_update(const NodePlan& node, const Value& input, std::span<const Value> answers) {
  const std::size_t n = progress(input);
  ObjectBuilder update;
  for (const std::string& channel : node.writes) {
    Value write = node_write(node.name, kind_of(channel), input, n);
    if (!write.is_null()) update.set(channel, std::move(write));
  }
  Value result = std::move(update).build();
  if (!answers.empty())
    result = result.set("log", Value(std::vector(answers.begin(), answers.end())));
  return result;
}

std::vector<Value> destinations(const NodePlan& node, const Value& state) {
  const std::size_t n = progress(state);
  std::vector<Value> targets;
  if (node.sends && n % 3 != 0) {
    for (std::size_t i = 0; i < n % 3; ++i) {
      targets.push_back(Send{std::string(kWorker), object({{"i", n + i}, {"log", list({"arg"})}})});
    }
  }
  targets.push_back(node.choices[n % node.choices.size()]);
  return targets;
}

Value subgraph_result(const Value& last, std::span<const Value> answers) {
  ListBuilder result;
  result.push_back("child");
  result.push_back(last.is_list() ? Value("list") : last);
  for (const Value& answer : answers) result.push_back(answer);
  return std::move(result).build();
}

}  // namespace clew::property
