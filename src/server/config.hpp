// The configuration of a server: clew.json, or a langgraph.json.
//
//   {
//     "graphs": {"agent": "./libagent.so:make_graph"},
//     "store": {"index": {"embed": "openai:text-embedding-3-small", "dims": 1536, "fields": ["text"]},
//               "ttl": {"default_ttl": 10080, "refresh_on_read": true}},
//     "checkpointer": {"ttl": {"strategy": "delete", "default_ttl": 43200}},
//     "auth": {"api_keys": {"alice": {"env": "ALICE_KEY"}, "bob": "key-bob"}},
//     "http": {"cors": {"allow_origins": ["https://app.example"]}, "disable_mcp": true},
//     "env": ".env",
//     "queue": {"workers": 16}
//   }
//
// Every key is optional. Paths are relative to the file's folder. A key of the
// wrong form is an error that names it, its line and what is expected; a key
// that nobody knows is a warning, so that a file may serve several versions.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <clew/error.hpp>

namespace clew::server {

// what() reads "clew.json:4: store.index.dims: expected a positive integer, found \"many\"".
class ConfigError : public Error {
 public:
  using Error::Error;
};

// "./libagent.so:make_graph", or {"path": that, "description": "..."}; a name
// alone is a graph that is linked into the program.
struct GraphConfig {
  std::string name;
  std::filesystem::path library;  // absolute; empty: linked in
  std::string function;           // or the name of the linked-in graph
  std::string description;
};

struct StoreIndexConfig {
  std::string embed;  // the embedder, such as "openai:text-embedding-3-small"
  std::size_t dims = 0;
  std::vector<std::string> fields = {"$"};
};

struct StoreTtlConfig {
  std::optional<std::chrono::milliseconds> default_ttl;  // nothing: items live for ever
  bool refresh_on_read = true;
  std::chrono::milliseconds sweep_interval = std::chrono::minutes(5);
};

struct CheckpointTtlConfig {
  enum class Strategy { delete_, keep_latest };
  Strategy strategy = Strategy::delete_;
  std::optional<std::chrono::milliseconds> default_ttl;  // nothing: threads live for ever
  std::chrono::milliseconds sweep_interval = std::chrono::minutes(5);
};

// Tokens of the header "Authorization: Bearer ...". One of the three keys is there.
struct JwtConfig {
  std::string secret;      // HS256
  std::string public_key;  // RS256 or ES256: text of a PEM file
  std::string jwks;        // RS256 or ES256: text of a JSON file with keys
  std::string algorithm;   // empty: that of the key
  std::string issuer;      // empty: any
  std::string audience;    // empty: any
  std::string identity_claim = "sub";
  std::chrono::seconds leeway{30};  // that clocks may differ
};

// Who may call. Configured means closed: a call that none of these lets in is refused.
struct AuthConfig {
  struct ApiKey {
    std::string key;
    std::string identity;
    std::vector<std::string> permissions = {};  // graphs see them; nothing else depends on them
  };
  // What a caller may see: threads, runs and crons whose metadata has his
  // identity under this key, where it is put when he makes one.
  struct Owner {
    bool is_enforced = true;
    std::string metadata_key = "owner";
    // Namespaces of the store must begin with his identity; see store_root_of().
    bool guards_store = true;
    // Assistants are his too; else they are shared by all.
    bool guards_assistants = false;
  };

  std::vector<ApiKey> api_keys;
  std::optional<JwtConfig> jwt;
  Owner owner;
};

struct CorsConfig {
  std::vector<std::string> allow_origins;  // "*": any
  std::vector<std::string> allow_methods = {"*"};
  std::vector<std::string> allow_headers = {"*"};
  std::vector<std::string> expose_headers;
  bool allow_credentials = false;
  std::chrono::seconds max_age{600};
};

struct HttpConfig {
  std::optional<CorsConfig> cors;  // nothing: no other origin may call

  // Groups of routes that are not served: "assistants", "threads", "runs",
  // "crons", "store", "mcp", "a2a", "meta", "ui", "webhooks".
  std::vector<std::string> disabled;

  // Headers of a request that its run sees in `configurable`: names, or
  // beginnings that end in "*", in lower case.
  std::vector<std::string> configurable_headers;
  std::vector<std::string> excluded_headers;
};

// Which URLs a run may name as its webhook.
struct WebhookConfig {
  bool require_https = true;
  bool disable_loopback = true;
  bool disable_private_ips = true;
};

struct ServerConfig {
  std::filesystem::path file;  // empty if there is none
  std::vector<GraphConfig> graphs;
  std::optional<StoreIndexConfig> store_index;
  std::optional<StoreTtlConfig> store_ttl;
  std::optional<CheckpointTtlConfig> checkpointer_ttl;
  std::optional<AuthConfig> auth;
  HttpConfig http;
  WebhookConfig webhooks;
  std::vector<std::pair<std::string, std::string>> env;
  std::size_t queue_workers = 0;  // 0: as the server sees fit

  // What was not understood and is ignored, each "clew.json:7: ...".
  std::vector<std::string> warnings;
};

// Reads `file` and the files that it names. Throws ConfigError. The variables of
// "env" are known to it but not set: see set_environment().
ServerConfig load_config(const std::filesystem::path& file);

// The same for text that stands in `file`.
ServerConfig parse_config(std::string_view text, const std::filesystem::path& file);

// Sets those variables of the environment that are not set. Not while other
// threads may read the environment.
void set_environment(const ServerConfig& config);

// The variables of a .env file: NAME=value, comments, quotes, "export".
// Throws ConfigError.
std::vector<std::pair<std::string, std::string>> parse_env_file(std::string_view text,
                                                                const std::string& name);

}  // namespace clew::server
