#include "server/config.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <clew/json.hpp>

#include "server/config_section.hpp"
#include "server/http_text.hpp"

namespace clew::server {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw ConfigError("cannot read '" + file.string() + "'");
  return std::move(text).str();
}

class ConfigReader {
 public:
  ConfigReader(std::string_view text, const fs::path& file)
      : folder_(fs::absolute(file).parent_path()),
        document_{std::string(text), file.filename().string(), {}} {
    config_.file = fs::absolute(file);
  }

  ServerConfig read() {
    ConfigSection root(document_);
    // Other sections may name variables that are defined here.
    read_env(root);
    read_graphs(root);
    if (auto store = root.section("store")) read_store(*store);
    if (auto checkpointer = root.section("checkpointer")) read_checkpointer(*checkpointer);
    if (auto auth = root.section("auth")) read_auth(*auth);
    if (auto http = root.section("http")) read_http(*http);
    if (auto webhooks = root.section("webhooks")) read_webhooks(*webhooks);
    if (auto queue = root.section("queue")) {
      config_.queue_workers = queue->positive("workers").value_or(0);
      queue->finish();
    }
    // These say how an image with Python or JavaScript is built.
    root.ignore({"$schema", "dependencies", "python_version", "node_version", "pip_config_file",
                 "pip_installer", "dockerfile_lines", "base_image", "image_distro", "api_version",
                 "keep_pkg_tools"});
    root.finish();
    config_.warnings = document_.warnings;
    return config_;
  }

 private:
  fs::path resolve(const std::string& path) const { return (folder_ / path).lexically_normal(); }

  std::string read_named_file(const ConfigSection& section, std::string_view key,
                              const std::string& path) const {
    try {
      return read_file(resolve(path));
    } catch (const ConfigError& error) {
      section.fail(key, error.what());
    }
  }

  // Environment ---------------------------------------------------------------

  void read_env(ConfigSection& root) {
    const Value* env = root.find("env");
    if (!env) return;
    if (env->is_string()) {
      const std::string path(env->as_string());
      config_.env = parse_env_file(read_named_file(root, "env", path), path);
      return;
    }
    if (!env->is_object()) {
      root.fail("env", "expected an object of variables or the path of a file with them");
    }
    ConfigSection variables = *root.section("env");
    for (const std::string& name : variables.keys()) {
      config_.env.emplace_back(name, variables.text(name).value_or(""));
    }
  }

  std::optional<std::string> variable(const std::string& name) const {
    if (const char* value = std::getenv(name.c_str())) return value;
    for (const auto& [known, value] : config_.env) {
      if (known == name) return value;
    }
    return std::nullopt;
  }

  // A secret of the environment, which must be there: an empty one would let anybody in.
  std::string secret(const ConfigSection& section, std::string_view key,
                     const std::string& name) const {
    const std::optional<std::string> value = variable(name);
    if (!value || value->empty()) {
      section.fail(key, "the environment variable " + name + " is not set");
    }
    return *value;
  }

  // Graphs --------------------------------------------------------------------

  void read_graphs(ConfigSection& root) {
    std::optional<ConfigSection> graphs = root.section("graphs");
    if (!graphs) return;
    for (const std::string& name : graphs->keys()) read_graph(*graphs, name);
  }

  void read_graph(ConfigSection& graphs, const std::string& name) {
    if (name.empty()) graphs.fail(name, "a graph needs a name");
    const Value* entry = graphs.find(name);
    if (entry && entry->is_string()) {
      add_graph(graphs, name, std::string(entry->as_string()), "");
    } else if (entry && entry->is_object()) {
      ConfigSection details = *graphs.section(name);
      const std::optional<std::string> path = details.text("path");
      if (!path) details.fail("", "expected a \"path\"");
      add_graph(details, name, *path, details.text("description").value_or(""));
      details.finish();
    } else {
      graphs.fail(name, R"(expected "./libNAME.so:function", or an object with "path" and )"
                        R"("description")");
    }
  }

  void add_graph(const ConfigSection& section, const std::string& name, const std::string& path,
                 const std::string& description) {
    const std::string_view key = section.value().contains(name) ? std::string_view(name) : "path";
    const std::size_t colon = path.rfind(':');
    const std::string file = path.substr(0, colon);
    const std::string extension = fs::path(file).extension().string();
    if (extension == ".py" || extension == ".ts" || extension == ".js" || extension == ".mjs") {
      section.fail(key, "'" + path +
                            "' is a graph in Python or JavaScript, which this server cannot run; "
                            "write it with clew::StateGraph, build it with clew_add_graph_plugin, "
                            "and name it as \"./lib" +
                            name +
                            ".so:make_graph\" (`clew new` makes a "
                            "project to start from)");
    }
    if (colon == std::string::npos) {
      if (file.empty() || file.find('/') != std::string::npos || !extension.empty()) {
        section.fail(key, "'" + path + "' names no function; expected \"./libNAME.so:function\"");
      }
      config_.graphs.push_back({name, {}, file, description});
      return;
    }
    const std::string function = path.substr(colon + 1);
    if (file.empty() || function.empty()) {
      section.fail(key, "'" + path + "': expected \"./libNAME.so:function\"");
    }
    config_.graphs.push_back({name, resolve(file), function, description});
  }

  // Storage -------------------------------------------------------------------

  void read_store(ConfigSection& store) {
    if (auto index = store.section("index")) {
      StoreIndexConfig& config = config_.store_index.emplace();
      const std::optional<std::string> embed = index->text("embed");
      if (!embed) index->fail("", "expected \"embed\", such as \"openai:text-embedding-3-small\"");
      config.embed = *embed;
      const std::optional<std::size_t> dims = index->positive("dims");
      if (!dims) index->fail("", "expected \"dims\", the length of the embedder's vectors");
      config.dims = *dims;
      config.fields = index->texts("fields").value_or(config.fields);
      index->finish();
    }
    if (auto ttl = store.section("ttl")) {
      StoreTtlConfig& config = config_.store_ttl.emplace();
      config.default_ttl = ttl->minutes("default_ttl");
      config.refresh_on_read = ttl->boolean("refresh_on_read").value_or(true);
      config.sweep_interval =
          ttl->minutes("sweep_interval_minutes").value_or(config.sweep_interval);
      ttl->finish();
    }
    store.finish();
  }

  void read_checkpointer(ConfigSection& checkpointer) {
    if (auto ttl = checkpointer.section("ttl")) {
      using Strategy = CheckpointTtlConfig::Strategy;
      CheckpointTtlConfig& config = config_.checkpointer_ttl.emplace();
      const auto strategy = ttl->choice("strategy", {"delete", "keep_latest"});
      config.strategy = strategy == "keep_latest" ? Strategy::keep_latest : Strategy::delete_;
      config.default_ttl = ttl->minutes("default_ttl");
      config.sweep_interval =
          ttl->minutes("sweep_interval_minutes").value_or(config.sweep_interval);
      ttl->finish();
    }
    checkpointer.finish();
  }

  // Callers -------------------------------------------------------------------

  void read_auth(ConfigSection& auth) {
    if (auth.value().contains("path")) {
      auth.fail("path",
                "this server cannot run a handler in Python; say who may call with "
                "\"api_keys\" or \"jwt\"");
    }
    AuthConfig& config = config_.auth.emplace();
    if (auto keys = auth.section("api_keys")) {
      for (const std::string& identity : keys->keys()) read_api_keys(*keys, identity);
    }
    if (auto jwt = auth.section("jwt")) read_jwt(*jwt);
    if (config.api_keys.empty() && !config.jwt) {
      auth.fail("", "nobody may call; add \"api_keys\" or \"jwt\"");
    }
    read_owner(auth);
    auth.finish();
  }

  // "alice": "key", {"key": "..."}, {"env": "ALICE_KEY"}, or a list of these. The
  // objects may also have "permissions".
  void read_api_keys(ConfigSection& keys, const std::string& identity) {
    if (identity.empty()) keys.fail(identity, "an identity cannot be empty");
    const Value* entry = keys.find(identity);
    const Value given = entry ? *entry : Value();
    const Value all = given.is_list() ? given : list({given});
    for (const Value& key : all) add_api_key(keys, identity, key);
  }

  void add_api_key(const ConfigSection& keys, const std::string& identity, const Value& key) {
    std::string text;
    std::vector<std::string> permissions;
    if (key.is_string()) {
      text = key.as_string();
    } else if (key.is_object()) {
      if (key["env"].is_string()) {
        text = secret(keys, identity, std::string(key["env"].as_string()));
      } else if (key["key"].is_string()) {
        text = key["key"].as_string();
      }
      permissions = read_permissions(keys, identity, key["permissions"]);
    }
    if (text.empty()) {
      keys.fail(identity, R"(expected a key, {"env": "VARIABLE"}, or a list of these)");
    }
    std::vector<AuthConfig::ApiKey>& known = config_.auth->api_keys;
    const auto same_key = [&](const AuthConfig::ApiKey& other) { return other.key == text; };
    if (std::any_of(known.begin(), known.end(), same_key)) {
      keys.fail(identity, "this key is also another's; give each caller a key of his own");
    }
    known.push_back({std::move(text), identity, std::move(permissions)});
  }

  static std::vector<std::string> read_permissions(const ConfigSection& keys,
                                                   const std::string& identity,
                                                   const Value& permissions) {
    if (permissions.is_null()) return {};
    try {
      return permissions.get<std::vector<std::string>>();
    } catch (const ValueError&) {
      keys.fail(identity, R"(expected "permissions" as a list of texts)");
    }
  }

  void read_jwt(ConfigSection& jwt) {
    JwtConfig& config = config_.auth->jwt.emplace();
    const auto algorithm = jwt.choice("algorithm", {"HS256", "RS256", "ES256"});
    const auto secret_env = jwt.text("secret_env");
    const auto public_key = jwt.text("public_key");
    const auto jwks = jwt.text("jwks");
    if (int(secret_env.has_value()) + int(public_key.has_value()) + int(jwks.has_value()) != 1) {
      jwt.fail(
          "", "expected one of \"secret_env\" (HS256), \"public_key\" and \"jwks\" (RS256, ES256)");
    }
    // The key decides: a token must not choose how it is checked.
    if (algorithm && (*algorithm == "HS256") != secret_env.has_value()) {
      jwt.fail("algorithm",
               "HS256 goes with \"secret_env\", RS256 and ES256 with \"public_key\" or \"jwks\"");
    }
    config.algorithm = algorithm.value_or("");
    if (secret_env) config.secret = secret(jwt, "secret_env", *secret_env);
    if (public_key) config.public_key = read_named_file(jwt, "public_key", *public_key);
    if (jwks) config.jwks = read_named_file(jwt, "jwks", *jwks);
    config.issuer = jwt.text("issuer").value_or("");
    config.audience = jwt.text("audience").value_or("");
    config.identity_claim = jwt.text("identity_claim").value_or(config.identity_claim);
    if (const auto leeway = jwt.positive_number("leeway_seconds")) {
      config.leeway = std::chrono::seconds(static_cast<std::int64_t>(*leeway));
    }
    jwt.finish();
  }

  void read_owner(ConfigSection& auth) {
    AuthConfig::Owner& owner = config_.auth->owner;
    const Value* rule = auth.find("owner");
    if (!rule) return;
    if (rule->is_bool()) {
      owner.is_enforced = owner.guards_store = rule->as_bool();
      return;
    }
    ConfigSection details = *auth.section("owner");
    owner.metadata_key = details.text("metadata_key").value_or(owner.metadata_key);
    owner.guards_store = details.boolean("store").value_or(owner.guards_store);
    owner.guards_assistants = details.boolean("assistants").value_or(owner.guards_assistants);
    details.finish();
  }

  // HTTP ----------------------------------------------------------------------

  void read_http(ConfigSection& http) {
    if (auto cors = http.section("cors")) read_cors(*cors);
    for (const std::string group : {"assistants", "threads", "runs", "crons", "store", "mcp", "a2a",
                                    "meta", "ui", "webhooks"}) {
      if (http.boolean("disable_" + group).value_or(false)) config_.http.disabled.push_back(group);
    }
    if (auto headers = http.section("configurable_headers")) {
      config_.http.configurable_headers = in_lower_case(headers->texts("includes"));
      config_.http.excluded_headers = in_lower_case(headers->texts("excludes"));
      headers->finish();
    }
    if (http.value().contains("app")) {
      http.fail("app",
                "this server cannot run an application in Python; call clew::serve() in a "
                "program of your own to add to it");
    }
    http.finish();
  }

  void read_cors(ConfigSection& cors) {
    CorsConfig& config = config_.http.cors.emplace();
    config.allow_origins = cors.texts("allow_origins").value_or(config.allow_origins);
    config.allow_methods = cors.texts("allow_methods").value_or(config.allow_methods);
    config.allow_headers = cors.texts("allow_headers").value_or(config.allow_headers);
    config.expose_headers = cors.texts("expose_headers").value_or(config.expose_headers);
    config.allow_credentials = cors.boolean("allow_credentials").value_or(false);
    if (const auto max_age = cors.positive("max_age")) {
      config.max_age = std::chrono::seconds(*max_age);
    }
    const auto& origins = config.allow_origins;
    if (config.allow_credentials &&
        std::find(origins.begin(), origins.end(), "*") != origins.end()) {
      cors.fail("allow_credentials",
                "with any origin allowed, every page could act as the caller; "
                "list the origins");
    }
    cors.finish();
  }

  static std::vector<std::string> in_lower_case(std::optional<std::vector<std::string>> names) {
    if (!names) return {};
    for (std::string& name : *names) name = lower_case(name);
    return *names;
  }

  void read_webhooks(ConfigSection& webhooks) {
    if (auto url = webhooks.section("url")) {
      WebhookConfig& config = config_.webhooks;
      config.require_https = url->boolean("require_https").value_or(true);
      config.disable_loopback = url->boolean("disable_loopback").value_or(true);
      config.disable_private_ips = url->boolean("disable_private_ips").value_or(true);
      url->finish();
    }
    webhooks.finish();
  }

  const fs::path folder_;
  ConfigDocument document_;
  ServerConfig config_;
};

}  // namespace

ServerConfig parse_config(std::string_view text, const fs::path& file) {
  return ConfigReader(text, file).read();
}

ServerConfig load_config(const fs::path& file) { return parse_config(read_file(file), file); }

void set_environment(const ServerConfig& config) {
  for (const auto& [name, value] : config.env) setenv(name.c_str(), value.c_str(), 0);
}

}  // namespace clew::server
