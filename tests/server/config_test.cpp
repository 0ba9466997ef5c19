// What a configuration says, and what is wrong with others.
#include "server/config.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "temporary_folder.hpp"
#include "unit/error_text.hpp"

namespace clew::server {
namespace {

using namespace std::chrono_literals;

ServerConfig parse(std::string_view text) { return parse_config(text, "/project/clew.json"); }

std::string problem(std::string_view text) {
  return error_text<ConfigError>([&] { parse(text); });
}

TEST(Config, IsEmptyIfNothingIsSaid) {
  const ServerConfig config = parse("{}");
  EXPECT_TRUE(config.graphs.empty());
  EXPECT_FALSE(config.auth);
  EXPECT_FALSE(config.http.cors);
  EXPECT_TRUE(config.webhooks.require_https);
  EXPECT_TRUE(config.warnings.empty());
}

TEST(Config, GraphsAreLibrariesOrLinkedIn) {
  const ServerConfig config = parse(R"({"graphs": {
      "agent": "./lib/libagent.so:make_graph",
      "other": {"path": "../libother.so:other", "description": "does other things"},
      "own": "own"}})");
  ASSERT_EQ(config.graphs.size(), 3U);
  EXPECT_EQ(config.graphs[0].name, "agent");
  EXPECT_EQ(config.graphs[0].library, "/project/lib/libagent.so");
  EXPECT_EQ(config.graphs[0].function, "make_graph");
  EXPECT_EQ(config.graphs[1].library, "/libother.so");
  EXPECT_EQ(config.graphs[1].description, "does other things");
  EXPECT_TRUE(config.graphs[2].library.empty());
  EXPECT_EQ(config.graphs[2].function, "own");
}

TEST(Config, APythonGraphIsAnErrorThatSaysWhatToDo) {
  EXPECT_EQ(
      problem("{\"graphs\": {\n  \"agent\": \"./graphs.py:graph\"}}"),
      "clew.json:2: graphs.agent: './graphs.py:graph' is a graph in Python or JavaScript, "
      "which this server cannot run; write it with clew::StateGraph, build it with "
      "clew_add_graph_plugin, and name it as \"./libagent.so:make_graph\" (`clew new` makes a "
      "project to start from)");
}

TEST(Config, AGraphWithoutAFunctionIsAnError) {
  EXPECT_EQ(problem(R"({"graphs": {"agent": "./libagent.so"}})"),
            "clew.json:1: graphs.agent: './libagent.so' names no function; expected "
            "\"./libNAME.so:function\"");
  EXPECT_EQ(problem(R"({"graphs": {"agent": 3}})"),
            "clew.json:1: graphs.agent: expected \"./libNAME.so:function\", or an object with "
            "\"path\" and \"description\"");
  EXPECT_EQ(problem(R"({"graphs": {"agent": {"description": "x"}}})"),
            "clew.json:1: graphs.agent: expected a \"path\"");
}

TEST(Config, StoreAndCheckpointer) {
  const ServerConfig config = parse(R"({
      "store": {"index": {"embed": "openai:small", "dims": 8, "fields": ["text", "tags[*]"]},
                "ttl": {"default_ttl": 1.5, "refresh_on_read": false, "sweep_interval_minutes": 2}},
      "checkpointer": {"ttl": {"strategy": "keep_latest", "default_ttl": 43200}}})");
  EXPECT_EQ(config.store_index->embed, "openai:small");
  EXPECT_EQ(config.store_index->dims, 8U);
  EXPECT_EQ(config.store_index->fields, (std::vector<std::string>{"text", "tags[*]"}));
  EXPECT_EQ(config.store_ttl->default_ttl, 90s);
  EXPECT_FALSE(config.store_ttl->refresh_on_read);
  EXPECT_EQ(config.store_ttl->sweep_interval, 2min);
  EXPECT_EQ(config.checkpointer_ttl->strategy, CheckpointTtlConfig::Strategy::keep_latest);
  EXPECT_EQ(config.checkpointer_ttl->default_ttl, 30 * 24h);
  EXPECT_EQ(config.checkpointer_ttl->sweep_interval, 5min);
}

TEST(Config, AnErrorNamesTheKeyItsLineAndWhatIsExpected) {
  EXPECT_EQ(problem("{\n\"store\": {\"index\": {\"embed\": \"e\",\n \"dims\": \"many\"}}}"),
            "clew.json:3: store.index.dims: expected a positive integer, found \"many\"");
  EXPECT_EQ(problem(R"({"store": {"index": {"embed": "e"}}})"),
            "clew.json:1: store.index: expected \"dims\", the length of the embedder's vectors");
  EXPECT_EQ(problem(R"({"store": []})"), "clew.json:1: store: expected an object, found []");
  EXPECT_EQ(problem(R"({"store": {"ttl": {"default_ttl": -1}}})"),
            "clew.json:1: store.ttl.default_ttl: expected a positive number, found -1");
  EXPECT_EQ(problem(R"({"checkpointer": {"ttl": {"strategy": "forget"}}})"),
            "clew.json:1: checkpointer.ttl.strategy: expected one of delete, keep_latest, found "
            "\"forget\"");
  EXPECT_EQ(problem(R"({"http": {"disable_mcp": "yes"}})"),
            "clew.json:1: http.disable_mcp: expected true or false, found \"yes\"");
  EXPECT_EQ(problem("[]"), "clew.json: expected an object, found []");
}

TEST(Config, TextThatIsNoJsonHasItsLine) {
  EXPECT_TRUE(problem("{\n  \"graphs\": {,}\n}").starts_with("clew.json:2: this is not JSON: "))
      << problem("{\n  \"graphs\": {,}\n}");
}

TEST(Config, TheLineIsThatOfTheKeyAndNotOfAnotherOfItsName) {
  EXPECT_EQ(problem("{\"env\": {\"dims\": \"{\\\"store\\\": 1}\"},\n\n\"store\":\n{\"index\":\n"
                    "{\"embed\": \"[\\\\\", \"x\": [{\"dims\": 2}],\n\"dims\": 0}}}"),
            "clew.json:6: store.index.dims: expected a positive integer, found 0");
}

TEST(Config, UnknownKeysAreWarningsAndThoseOfOtherToolsAreNot) {
  const ServerConfig config = parse(
      "{\"dependencies\": [\".\"], \"python_version\": \"3.11\",\n\"grahps\": {},\n"
      "\"http\": {\"disable_mpc\": true}}");
  EXPECT_EQ(config.warnings,
            (std::vector<std::string>{"clew.json:3: http.disable_mpc: unknown key; it is ignored",
                                      "clew.json:2: grahps: unknown key; it is ignored"}));
}

TEST(Config, ApiKeysBelongToIdentities) {
  setenv("CLEW_TEST_BOB_KEY", "key-bob", 1);
  const ServerConfig config = parse(R"({
      "env": {"CLEW_TEST_CAROL_KEY": "key-carol"},
      "auth": {"api_keys": {"alice": ["key-alice", {"key": "second", "permissions": ["read"]}],
                            "bob": {"env": "CLEW_TEST_BOB_KEY"},
                            "carol": {"env": "CLEW_TEST_CAROL_KEY"}}}})");
  std::string keys;
  for (const AuthConfig::ApiKey& key : config.auth->api_keys) {
    keys += key.key + "=" + key.identity + " ";
  }
  EXPECT_EQ(keys, "key-alice=alice second=alice key-bob=bob key-carol=carol ");
  EXPECT_EQ(config.auth->api_keys[1].permissions, std::vector<std::string>{"read"});
  EXPECT_TRUE(config.auth->owner.is_enforced);
  EXPECT_EQ(config.auth->owner.metadata_key, "owner");
  EXPECT_TRUE(config.auth->owner.guards_store);
  EXPECT_FALSE(config.auth->owner.guards_assistants);
}

TEST(Config, AuthThatLetsTheWrongOnesInIsAnError) {
  EXPECT_EQ(problem(R"({"auth": {}})"),
            "clew.json:1: auth: nobody may call; add \"api_keys\" or \"jwt\"");
  EXPECT_EQ(problem(R"({"auth": {"api_keys": {"bob": {"env": "CLEW_TEST_UNSET"}}}})"),
            "clew.json:1: auth.api_keys.bob: the environment variable CLEW_TEST_UNSET is not set");
  EXPECT_EQ(problem(R"({"auth": {"api_keys": {"bob": ""}}})"),
            "clew.json:1: auth.api_keys.bob: expected a key, {\"env\": \"VARIABLE\"}, or a list of "
            "these");
  EXPECT_EQ(problem(R"({"auth": {"api_keys": {"bob": {"key": "k", "permissions": "all"}}}})"),
            "clew.json:1: auth.api_keys.bob: expected \"permissions\" as a list of texts");
  EXPECT_EQ(problem(R"({"auth": {"api_keys": {"alice": "k", "bob": "k"}}})"),
            "clew.json:1: auth.api_keys.bob: this key is also another's; give each caller a key of "
            "his own");
  EXPECT_EQ(problem(R"({"auth": {"path": "./auth.py:auth"}})"),
            "clew.json:1: auth.path: this server cannot run a handler in Python; say who may call "
            "with \"api_keys\" or \"jwt\"");
}

TEST(Config, TokensAreCheckedWithASecretOrAKey) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "key.pem") << "a public key";
  const ServerConfig config = parse_config(
      R"({"auth": {"jwt": {"public_key": "key.pem", "issuer": "me", "audience": "you",
                           "identity_claim": "email"},
                   "owner": {"metadata_key": "user", "assistants": true}}})",
      folder.path / "clew.json");
  EXPECT_EQ(config.auth->jwt->public_key, "a public key");
  EXPECT_EQ(config.auth->jwt->issuer, "me");
  EXPECT_EQ(config.auth->jwt->audience, "you");
  EXPECT_EQ(config.auth->jwt->identity_claim, "email");
  EXPECT_EQ(config.auth->owner.metadata_key, "user");
  EXPECT_TRUE(config.auth->owner.guards_assistants);
  setenv("CLEW_TEST_SECRET", "s3cret", 1);
  EXPECT_EQ(parse(R"({"auth": {"jwt": {"algorithm": "HS256", "secret_env": "CLEW_TEST_SECRET"}}})")
                .auth->jwt->secret,
            "s3cret");
  EXPECT_EQ(problem(R"({"auth": {"jwt": {}}})"),
            "clew.json:1: auth.jwt: expected one of \"secret_env\" (HS256), \"public_key\" and "
            "\"jwks\" (RS256, ES256)");
  EXPECT_EQ(problem(R"({"auth": {"jwt": {"algorithm": "HS256", "jwks": "keys.json"}}})"),
            "clew.json:1: auth.jwt.algorithm: HS256 goes with \"secret_env\", RS256 and ES256 with "
            "\"public_key\" or \"jwks\"");
  EXPECT_EQ(problem(R"({"auth": {"jwt": {"jwks": "keys.json"}}})"),
            "clew.json:1: auth.jwt.jwks: cannot read '/project/keys.json'");
}

TEST(Config, Http) {
  const ServerConfig config = parse(R"({"http": {
      "cors": {"allow_origins": ["https://app.example"], "max_age": 60},
      "disable_mcp": true, "disable_store": true, "disable_runs": false,
      "configurable_headers": {"includes": ["X-User-*"], "excludes": ["X-User-Secret"]}}})");
  EXPECT_EQ(config.http.cors->allow_origins, std::vector<std::string>{"https://app.example"});
  EXPECT_EQ(config.http.cors->max_age, 60s);
  EXPECT_EQ(config.http.disabled, (std::vector<std::string>{"store", "mcp"}));
  EXPECT_EQ(config.http.configurable_headers, std::vector<std::string>{"x-user-*"});
  EXPECT_EQ(config.http.excluded_headers, std::vector<std::string>{"x-user-secret"});
  EXPECT_EQ(problem(R"({"http": {"cors": {"allow_origins": ["*"], "allow_credentials": true}}})"),
            "clew.json:1: http.cors.allow_credentials: with any origin allowed, every page could "
            "act as the caller; list the origins");
}

TEST(Config, WebhooksAndQueue) {
  const ServerConfig config =
      parse(R"({"webhooks": {"url": {"require_https": false, "disable_loopback": false}},
                "queue": {"workers": 16}})");
  EXPECT_FALSE(config.webhooks.require_https);
  EXPECT_FALSE(config.webhooks.disable_loopback);
  EXPECT_TRUE(config.webhooks.disable_private_ips);
  EXPECT_EQ(config.queue_workers, 16U);
}

TEST(Config, TheEnvironmentMayStandInAFile) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / ".env") << "# keys\nexport A=1\n\nB = \"two # words\" \nC=c # no\n";
  std::ofstream(folder.path / "clew.json") << R"({"env": ".env"})";
  const ServerConfig config = load_config(folder.path / "clew.json");
  std::string variables;
  for (const auto& [name, value] : config.env) variables += name + "=" + value + ";";
  EXPECT_EQ(variables, "A=1;B=two # words;C=c;");
}

TEST(Config, VariablesThatAreSetKeepTheirValue) {
  setenv("CLEW_TEST_SET", "before", 1);
  unsetenv("CLEW_TEST_NEW");
  set_environment(parse(R"({"env": {"CLEW_TEST_SET": "after", "CLEW_TEST_NEW": "new"}})"));
  EXPECT_STREQ(std::getenv("CLEW_TEST_SET"), "before");
  EXPECT_STREQ(std::getenv("CLEW_TEST_NEW"), "new");
}

TEST(EnvFile, WhatIsNoVariableIsAnErrorWithItsLine) {
  const auto problem_of = [](std::string_view text) {
    return error_text<ConfigError>([&] { parse_env_file(text, ".env"); });
  };
  EXPECT_EQ(problem_of("A=1\nB"), ".env:2: expected NAME=value");
  EXPECT_EQ(problem_of("1A=1"), ".env:1: expected NAME=value");
  EXPECT_EQ(problem_of("A='x"), ".env:1: the quote is not closed");
}

}  // namespace
}  // namespace clew::server
