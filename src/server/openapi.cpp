#include "server/openapi.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <clew/json.hpp>

#include "server/embedded_files.hpp"
#include "server/http_sse.hpp"
#include "server/shapes.hpp"

namespace clew::server {
namespace {

constexpr const char* kDescription =
    "Serves graphs as agents. Bodies are JSON: in them null counts as absent, and fields that are "
    "not known are ignored. What is refused is answered with {\"detail\": text}.";

// Short references, written out.
Value with_whole_references(const Value& schema) {
  if (schema.is_list()) {
    ListBuilder elements;
    for (const Value& element : schema) elements.push_back(with_whole_references(element));
    return std::move(elements).build();
  }
  if (!schema.is_object()) return schema;
  ObjectBuilder entries;
  for (auto [key, value] : schema.items()) {
    const bool is_short = key == "$ref" && value.is_string();
    entries.set(key, is_short ? Value("#/components/schemas/" + value.get<std::string>())
                              : with_whole_references(value));
  }
  return std::move(entries).build();
}

Value schema_of(const Value& name_or_schema) {
  return with_whole_references(name_or_schema.is_string() ? object({{"$ref", name_or_schema}})
                                                          : name_or_schema);
}

// Parameters --------------------------------------------------------------------

Value parameter(std::string_view name, std::string_view place, const Value& schema,
                bool is_required) {
  Value result = object({{"name", name}, {"in", place}, {"required", is_required}});
  if (const Value& text = schema["description"]; text.is_string()) {
    result = result.set("description", text);
  }
  return result.set("schema", schema_of(schema.erase("description")));
}

void add_path_parameters(const std::string& pattern, const Value& ours, const Value& common,
                         ListBuilder& parameters) {
  for (std::size_t begin = pattern.find('{'); begin != std::string::npos;
       begin = pattern.find('{', begin + 1)) {
    const std::string name = pattern.substr(begin + 1, pattern.find('}', begin) - begin - 1);
    parameters.push_back(parameter(name, "path", ours[name].is_null() ? common[name] : ours[name],
                                   /*is_required=*/true));
  }
}

void add_parameters(const Value& schemas, std::string_view place, const Value& required,
                    ListBuilder& parameters) {
  if (!schemas.is_object()) return;
  for (auto [name, schema] : schemas.items()) {
    const bool is_required =
        std::find(required.begin(), required.end(), Value(name)) != required.end();
    parameters.push_back(parameter(name, place, schema, is_required));
  }
}

// Bodies ------------------------------------------------------------------------

Value content(std::string_view type, const Value& schema) {
  return object({{type, object({{"schema", schema_of(schema)}})}});
}

// Whether something in it must be there.
bool has_required(const Value& body, const Value& schemas) {
  if (body.is_string()) return has_required(schemas[body.as_string()], schemas);
  if (body["type"] == Value("array") || body.contains("required")) return true;
  for (const char* key : {"allOf", "oneOf"}) {
    for (const Value& part : body[key].is_list() ? body[key] : list()) {
      if (has_required(part["$ref"].is_string() ? part["$ref"] : part, schemas)) return true;
    }
  }
  return false;
}

Value request_body(const Value& body, const Value& schemas) {
  return object(
      {{"required", has_required(body, schemas)}, {"content", content("application/json", body)}});
}

// Answers -----------------------------------------------------------------------

Value answer_content(const Value& answer) {
  if (answer == Value("events")) {
    const Value schema = object({{"type", "string"}, {"description", "Server-sent events."}});
    return content(kEventStreamType.substr(0, kEventStreamType.find(';')), schema);
  }
  const bool is_by_type = answer.is_object() && !answer.empty() &&
                          (*answer.items().begin()).key.find('/') != std::string_view::npos;
  if (!is_by_type) return content("application/json", answer);
  Value all = object();
  for (auto [type, schema] : answer.items()) all = merged(all, content(type, schema));
  return all;
}

std::string reason(std::string_view status) {
  int number = 0;
  std::from_chars(status.data(), status.data() + status.size(), number);
  return std::string(reason_phrase(number));
}

Value page_headers() {
  const auto header = [](const char* text) {
    return object({{"description", text}, {"schema", object({{"type", "integer"}})}});
  };
  return object(
      {{"x-pagination-total", header("How many there are; on all pages but the last, at least.")},
       {"x-pagination-next", header("Where the next page begins, if there is one.")}});
}

Value refusal(std::string_view description) {
  return object(
      {{"description", description}, {"content", content("application/json", Value("Error"))}});
}

Value responses(const Value& route, bool needs_auth) {
  ObjectBuilder all;
  for (auto [status, answer] : route["answers"].items()) {
    Value response = object({{"description", reason(status)}});
    if (route["pages"] == Value(true)) response = response.set("headers", page_headers());
    if (!answer.is_null()) response = response.set("content", answer_content(answer));
    all.set(status, response);
  }
  if (needs_auth) all.set("401", refusal("No valid key or token"));
  if (route["refuses"].is_object()) {
    for (auto [status, text] : route["refuses"].items()) all.set(status, refusal(text.as_string()));
  }
  if (!route["query"].is_null() || !route["body"].is_null()) {
    all.set("422", refusal("Something has the wrong shape"));
  }
  all.set("default", refusal("Any other refusal: too large, too slow, too many, or a failure"));
  return std::move(all).build();
}

// The document ------------------------------------------------------------------

// All of openapi/, one part after another.
struct Parts {
  Value path = object();     // parameters of paths, by name
  Value routes = object();   // "METHOD /path": what is particular to it
  Value schemas = object();  // by name
  Value tags = list();

  Parts() {
    for (const std::string_view text : kOpenApiParts) {
      const Value part = parse_json(text);
      path = merged(path, part["path"]);
      schemas = merged(schemas, part["schemas"]);
      if (!part["tag"].is_string()) continue;
      tags = tags.append(object({{"name", part["tag"]}, {"description", part["description"]}}));
      for (auto [name, route] : part["routes"].items()) {
        routes = routes.set(name, route.set("tag", part["tag"]));
      }
    }
  }
};

// "post_threads_thread_id_copy"
std::string operation_id(const Route& route) {
  std::string id;
  for (const char c : route.method + route.pattern) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (is_word) id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!is_word && !id.ends_with('_')) id += '_';
  }
  while (id.ends_with('_')) id.pop_back();
  return id;
}

Value operation(const Route& route, const Value& said, const Parts& parts, bool has_auth) {
  ObjectBuilder result;
  result.set("tags", list({said["tag"]}));
  result.set("operationId", operation_id(route));
  for (const char* key : {"summary", "description"}) {
    if (said[key].is_string()) result.set(key, said[key]);
  }
  ListBuilder parameters;
  add_path_parameters(route.pattern, said["path"], parts.path, parameters);
  add_parameters(said["query"], "query", said["required_query"], parameters);
  add_parameters(said["headers"], "header", list(), parameters);
  if (parameters.size() > 0) result.set("parameters", std::move(parameters).build());
  if (!said["body"].is_null()) {
    result.set("requestBody", request_body(said["body"], parts.schemas));
  }
  result.set("responses", responses(said, has_auth && !route.options.is_public));
  if (has_auth && route.options.is_public) result.set("security", list());
  return std::move(result).build();
}

Value with_auth(const Value& document) {
  const Value schemes =
      object({{"api_key", object({{"type", "apiKey"}, {"in", "header"}, {"name", "x-api-key"}})},
              {"bearer", object({{"type", "http"}, {"scheme", "bearer"}})}});
  return document.set("components", document["components"].set("securitySchemes", schemes))
      .set("security", list({object({{"api_key", list()}}), object({{"bearer", list()}})}));
}

}  // namespace

Value openapi_document(const Router& router, const OpenApiOptions& options) {
  const Parts parts;
  Value paths = object();
  for (const Route* route : router.routes()) {
    const Value& said = parts.routes[route->method + " " + route->pattern];
    if (said.is_null() || route->websocket) continue;
    std::string method = route->method;
    std::transform(method.begin(), method.end(), method.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const Value& path = paths[route->pattern];
    paths = paths.set(
        route->pattern,
        merged(path, object({})).set(method, operation(*route, said, parts, options.has_auth)));
  }
  const Value document =
      object({{"openapi", "3.1.0"},
              {"info", object({{"title", "Clew Agent Server"},
                               {"version", options.version},
                               {"description", kDescription}})},
              {"tags", parts.tags},
              {"paths", paths},
              {"components", object({{"schemas", with_whole_references(parts.schemas)}})}});
  return options.has_auth ? with_auth(document) : document;
}

}  // namespace clew::server
