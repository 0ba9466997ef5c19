// What a graph takes, returns and keeps, as JSON Schema.
#include <cctype>

#include <clew/compiled_graph.hpp>
#include <clew/schema.hpp>

#include "pregel/graph.hpp"

namespace clew {

using pregel::ChannelInfo;
using pregel::Graph;
using pregel::Index;

namespace {

// "LangGraph" and "State" are "LangGraphState"; "agent" and "State" are "agent_state".
std::string title_of(const Graph& graph, std::string_view suffix) {
  const std::string& name = graph.name;
  if (!name.empty() && std::isupper(static_cast<unsigned char>(name.front()))) {
    return name + std::string(suffix);
  }
  std::string title = name + "_";
  for (const char c : suffix) {
    title += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return title;
}

Value schema_of_channels(const Graph& graph, const std::vector<Index>& channels,
                         const std::string& title) {
  ObjectBuilder properties;
  for (const Index index : channels) {
    const ChannelInfo& channel = graph.channels[index];
    if (channel.managed) continue;
    properties.set(channel.name, detail::property_schema(channel.name, channel.json_schema));
  }
  return detail::object_schema(title, std::move(properties).build(), list());
}

// A graph that takes or returns one bare value says nothing about it.
Value bare_schema(const std::string& title) { return {{"title", title}}; }

}  // namespace

Value CompiledGraph::get_input_jsonschema() const {
  const std::vector<Index>& channels = graph_->nodes.front().writable;
  const std::string& title = graph_->input_title;
  if (channels.empty()) return bare_schema(title_of(*graph_, "Input"));
  return schema_of_channels(*graph_, channels, title.empty() ? title_of(*graph_, "Input") : title);
}

Value CompiledGraph::get_output_jsonschema() const {
  const pregel::Selection& output = graph_->selections[graph_->output];
  const std::string& title = graph_->output_title;
  if (output.is_bare) return bare_schema(title_of(*graph_, "Output"));
  return schema_of_channels(*graph_, output.channels,
                            title.empty() ? title_of(*graph_, "Output") : title);
}

Value CompiledGraph::get_state_jsonschema() const {
  const pregel::Selection& state = graph_->selections[graph_->stream];
  const std::string title = title_of(*graph_, "State");
  if (state.is_bare) return bare_schema(title);
  const Value schema = schema_of_channels(*graph_, state.channels, title);
  // A channel is empty until it is written.
  ObjectBuilder properties;
  const Value& declared = schema["properties"];
  for (auto [name, property] : declared.items()) {
    properties.set(name, property.set("default", nullptr));
  }
  return schema.set("properties", std::move(properties).build());
}

Value CompiledGraph::get_context_jsonschema() const { return graph_->context_schema; }

Value CompiledGraph::get_config_jsonschema() const {
  return graph_->context_schema.is_null() ? object() : graph_->context_schema;
}

}  // namespace clew
