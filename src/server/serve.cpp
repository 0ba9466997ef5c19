#include <unistd.h>

#include <algorithm>
#include <mutex>

#include <clew/cache.hpp>
#include <clew/server.hpp>

#include "server/auth.hpp"
#include "server/http_cors.hpp"
#include "server/log_writer.hpp"
#include "server/passed_headers.hpp"
#include "server/routes/routes.hpp"
#include "server/stop_signal.hpp"
#include "server/storage.hpp"
#include "server/webhook_sender.hpp"
#include "value/repeating_thread.hpp"

namespace clew {
namespace server {
namespace {

// How many ports after the one that was asked for are tried.
constexpr std::uint16_t kFurtherPorts = 100;

constexpr std::chrono::milliseconds kReloadInterval{500};

// How long connections have to end when all runs have.
constexpr std::chrono::milliseconds kHttpGrace{1000};

bool is_disabled(const ServerConfig& config, const char* group) {
  const auto& disabled = config.http.disabled;
  return std::find(disabled.begin(), disabled.end(), group) != disabled.end();
}

Router make_router(AgentServer& server, const ServerConfig& config, const MetaParts& meta) {
  Router router;
  if (!is_disabled(config, "assistants")) add_assistant_routes(router, server);
  if (!is_disabled(config, "threads")) {
    add_thread_routes(router, server);
    add_protocol_routes(router, server);
  }
  if (!is_disabled(config, "runs")) add_run_routes(router, server);
  if (!is_disabled(config, "crons")) add_cron_routes(router, server);
  if (!is_disabled(config, "store")) add_store_routes(router, server);
  if (!is_disabled(config, "meta")) add_meta_routes(router, server, meta);
  return router;
}

ServiceOptions service_options(const ServerConfig& config, const ServerOptions& options) {
  ServiceOptions service;
  service.webhooks = webhook_policy(config.webhooks);
  if (config.queue_workers > 0) service.workers = config.queue_workers;
  if (options.workers) service.workers = *options.workers;
  if (config.checkpointer_ttl && config.checkpointer_ttl->default_ttl) {
    using Minutes = std::chrono::duration<double, std::ratio<60>>;
    const bool keeps =
        config.checkpointer_ttl->strategy == CheckpointTtlConfig::Strategy::keep_latest;
    service.default_ttl = ThreadTtl{keeps ? "keep_latest" : "delete",
                                    Minutes(*config.checkpointer_ttl->default_ttl).count()};
    service.sweep_interval = config.checkpointer_ttl->sweep_interval;
  }
  return service;
}

std::optional<CorsOptions> cors_options(const std::optional<CorsConfig>& config) {
  if (!config) return std::nullopt;
  CorsOptions cors;
  cors.allowed_origins = config->allow_origins;
  cors.allow_credentials = config->allow_credentials;
  const bool any_header =
      std::count(config->allow_headers.begin(), config->allow_headers.end(), "*") > 0;
  if (!any_header) cors.allowed_headers = config->allow_headers;
  if (!config->expose_headers.empty()) cors.exposed_headers = config->expose_headers;
  cors.max_age = config->max_age;
  return cors;
}

std::string shown_host(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

// A name that stands for this machine alone. Pages of others have another, and may let
// it lead here (DNS rebinding).
bool is_local_name(std::string_view name) {
  const bool is_numeric = name.find_first_not_of("0123456789.") == std::string_view::npos;
  return name == "localhost" || name == "::1" || (is_numeric && name.starts_with("127."));
}

// "localhost:2024", "[::1]:2024" without the port.
std::string_view name_of_host(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

// A server with all that it needs, from its start to its end.
class HostedServer {
 public:
  HostedServer(const std::map<std::string, GraphFactory>& graphs, const ServerOptions& options);

  void start();
  ServerInfo info() const;
  // False if something still executes that needs this server.
  bool stop();

 private:
  void load_graphs(const std::map<std::string, GraphFactory>& graphs);
  void make_server();
  MetaParts meta_parts();
  HttpOptions http_options();
  void check_page(const Request& request) const;
  Caller caller_of(const Request& request) const;
  void reload();

  const ServerOptions options_;
  const ServerConfig config_;
  const std::optional<CorsOptions> cors_;
  LogWriter log_{STDERR_FILENO};
  const std::optional<Authenticator> auth_;
  Storage storage_;
  std::shared_ptr<GraphRegistry> graphs_;
  std::vector<GraphProblem> problems_;
  const std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  std::unique_ptr<AgentServer> server_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<internal::RepeatingThread> reloading_;
};

// The environment is set before anything is made that may read it.
ServerConfig read_config(const std::filesystem::path& file) {
  if (file.empty()) return {};
  ServerConfig config = load_config(file);
  set_environment(config);
  return config;
}

HostedServer::HostedServer(const std::map<std::string, GraphFactory>& graphs,
                           const ServerOptions& options)
    : options_(options),
      config_(read_config(options.config)),
      cors_(cors_options(config_.http.cors)),
      auth_(config_.auth ? std::optional<Authenticator>(*config_.auth) : std::nullopt),
      storage_(open_storage(options.data, config_)) {
  load_graphs(graphs);
  make_server();
}

void HostedServer::load_graphs(const std::map<std::string, GraphFactory>& graphs) {
  CompileOptions compile;
  compile.checkpointer = storage_.checkpointer;
  compile.store = storage_.store;
  compile.cache = std::make_shared<InMemoryCache>();
  graphs_ = std::make_shared<GraphRegistry>(std::move(compile));
  for (const auto& [name, factory] : graphs) graphs_->add(name, factory);
  problems_ = graphs_->load(config_.graphs, {.is_reloadable = options_.reloads});
}

void HostedServer::make_server() {
  ServerParts parts;
  parts.repository = storage_.repository;
  parts.checkpointer = storage_.checkpointer;
  parts.store = storage_.store;
  parts.graphs = graphs_;
  parts.options = service_options(config_, options_);
  if (!is_disabled(config_, "webhooks")) {
    parts.webhooks = std::make_shared<HttpWebhookSender>(parts.options.webhooks);
  }
  if (auth_) {
    parts.options.caller_of = [this](const std::string& name) { return auth_->caller_named(name); };
  }
  server_ = std::make_unique<AgentServer>(std::move(parts));
  http_ =
      std::make_unique<HttpServer>(make_router(*server_, config_, meta_parts()), http_options());
}

MetaParts HostedServer::meta_parts() {
  MetaParts meta;
  meta.repository = storage_.repository;
  meta.metrics = metrics_;
  meta.workers = service_options(config_, options_).workers;
  meta.connections = [this] { return http_->connections(); };
  meta.has_auth = auth_.has_value();
  return meta;
}

HttpOptions HostedServer::http_options() {
  HttpOptions http;
  http.host = options_.host;
  http.port = options_.port;
  http.further_ports = options_.tries_next_port ? kFurtherPorts : 0;
  http.cors = cors_;
  http.middleware = [this](Request& request) -> std::optional<Response> {
    request.caller = caller_of(request);
    return std::nullopt;
  };
  http.on_access = [this](const AccessRecord& record) {
    metrics_->count(record);
    log_.write(access_log_line(record));
  };
  http.on_error = [this](std::string_view request_id, std::string_view what) {
    log_.write("error", what, object({{"request_id", request_id}}));
  };
  return http;
}

// Without auth any page that a browser on this machine shows could call, were it not
// for its name or its origin.
void HostedServer::check_page(const Request& request) const {
  const std::string* host = request.headers.find("host");
  if (is_local_name(options_.host) && host && !is_local_name(name_of_host(*host))) {
    throw ServiceError(403,
                       "Without auth this server answers only to localhost; configure auth, or "
                       "listen at another address");
  }
  if (request.method != "GET" && !comes_from_allowed_page(cors_, request)) {
    throw ServiceError(403, "Origin is not allowed; add it to http.cors.allow_origins");
  }
}

Caller HostedServer::caller_of(const Request& request) const {
  if (!auth_) check_page(request);
  Caller caller = auth_ ? auth_->authenticate(request) : Caller();
  caller.request_id = request.id;
  caller.configurable = passed_headers(config_.http, request.headers);
  return caller;
}

// First the runs that were left: a client that asks for one finds it at work.
void HostedServer::start() {
  server_->start();
  http_->start();
  if (!options_.reloads) return;
  reloading_ = std::make_unique<internal::RepeatingThread>(kReloadInterval, [this] { reload(); });
}

void HostedServer::reload() {
  const GraphRegistry::Reload changed = graphs_->reload_changed();
  for (const std::string& name : changed.graphs) {
    log_.write("info", "graph loaded anew", object({{"graph", name}}));
  }
  for (const GraphProblem& problem : changed.problems) {
    log_.write("error", problem.reason, object({{"graph", problem.name}}));
  }
  if (!changed.graphs.empty()) server_->assistants.make_system_assistants();
}

ServerInfo HostedServer::info() const {
  ServerInfo info;
  info.url = "http://" + shown_host(options_.host) + ":" + std::to_string(http_->port());
  info.graphs = graphs_->names();
  for (const GraphProblem& problem : problems_) {
    info.problems.push_back(problem.name + ": " + problem.reason);
  }
  info.warnings = config_.warnings;
  info.storage = storage_.path + (storage_.is_encrypted ? " (encrypted)" : "");
  info.auth = auth_ ? auth_->describe() : "none: whoever reaches the address may do everything";
  return info;
}

// Runs end at a checkpoint, which ends their streams; then the connections.
bool HostedServer::stop() {
  reloading_.reset();
  const bool has_ended = server_->stop(options_.shutdown_timeout);
  if (!has_ended) log_.write("warning", "runs were cut off; the next start takes them up");
  http_->stop(kHttpGrace);
  return has_ended;
}

// A node that does not look at its stop token may run for hours. Its server stays
// for it, and keeps its folder, until the program ends.
void leave_behind(std::unique_ptr<HostedServer> server) {
  static std::mutex mutex;
  static auto* const left = new std::vector<std::unique_ptr<HostedServer>>();
  const std::lock_guard lock(mutex);
  left->push_back(std::move(server));
}

}  // namespace
}  // namespace server

void serve(const std::map<std::string, GraphFactory>& graphs, const ServerOptions& options) {
  server::StopSignal stop;
  auto server = std::make_unique<server::HostedServer>(graphs, options);
  server->start();
  if (options.on_ready) options.on_ready(server->info());
  stop.wait(options.stop);
  if (!server->stop()) server::leave_behind(std::move(server));
}

}  // namespace clew
