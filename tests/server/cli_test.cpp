// The command line: what is asked for, what the help says, and what a new project has.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/error.hpp>

#include "cli/command.hpp"
#include "server/config.hpp"
#include "temporary_folder.hpp"

namespace clew::cli {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

// A command line that was run in a folder of its own.
class CommandLine : public testing::Test {
 protected:
  CommandLine() : before_(fs::current_path()) { fs::current_path(folder_.path); }
  ~CommandLine() override { fs::current_path(before_); }

  int run(std::vector<std::string> arguments) {
    std::ostringstream out;
    std::ostringstream error;
    Console console{out, error};
    const auto serve = [this](const ServerOptions& options) {
      served = options;
      if (options.on_ready) options.on_ready(info);
    };
    const int status = run_command_line(all_commands(serve), std::move(arguments), console);
    printed = out.str();
    complaint = error.str();
    return status;
  }

  void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

  std::optional<ServerOptions> served;
  ServerInfo info{"http://127.0.0.1:2024", {"echo", "seq"}, {}, {}, ".clew/clew.db", "open"};
  std::string printed;
  std::string complaint;

 private:
  TemporaryFolder folder_;
  fs::path before_;
};

TEST_F(CommandLine, DevServesTheConfigurationOfTheFolder) {
  write("clew.json", "{}");
  EXPECT_EQ(run({"dev"}), 0) << complaint;
  EXPECT_EQ(served->config, "clew.json");
  EXPECT_EQ(served->host, "127.0.0.1");
  EXPECT_EQ(served->port, 2024);
  EXPECT_TRUE(served->tries_next_port);
  EXPECT_TRUE(served->reloads);
  EXPECT_EQ(printed,
            "graphs:  echo, seq\n"
            "storage: .clew/clew.db\n"
            "auth:    open\n"
            "ready at http://127.0.0.1:2024\n");
}

TEST_F(CommandLine, GraphsThatDoNotServeAreTold) {
  write("clew.json", "{}");
  info.problems = {"agent: there is no file"};
  run({"dev"});
  EXPECT_THAT(printed, HasSubstr("not served: agent: there is no file\n"));
}

TEST_F(CommandLine, ServeHasTheDefaultsOfProduction) {
  write("langgraph.json", "{}");
  EXPECT_EQ(run({"serve", "--shutdown-timeout", "3"}), 0) << complaint;
  EXPECT_EQ(served->config, "langgraph.json");
  EXPECT_EQ(served->port, 8123);
  EXPECT_FALSE(served->tries_next_port);
  EXPECT_FALSE(served->reloads);
  EXPECT_EQ(served->shutdown_timeout, std::chrono::seconds(3));
}

TEST_F(CommandLine, FlagsSayWhereAndHow) {
  write("other.json", "{}");
  EXPECT_EQ(run({"dev", "--config", "other.json", "--host", "0.0.0.0", "--port", "80", "--data",
                 "kept", "--workers", "4", "--no-reload"}),
            0)
      << complaint;
  EXPECT_EQ(served->config, "other.json");
  EXPECT_EQ(served->host, "0.0.0.0");
  EXPECT_EQ(served->port, 80);
  EXPECT_EQ(served->data, "kept");
  EXPECT_EQ(served->workers, 4U);
  EXPECT_FALSE(served->reloads);
}

TEST_F(CommandLine, AFlagHasATwinInTheEnvironmentThatItOverrides) {
  write("clew.json", "{}");
  setenv("CLEW_PORT", "3000", 1);
  setenv("CLEW_NO_RELOAD", "true", 1);
  run({"dev"});
  EXPECT_EQ(served->port, 3000);
  EXPECT_FALSE(served->reloads);
  run({"dev", "--port", "4000"});
  EXPECT_EQ(served->port, 4000);
  unsetenv("CLEW_PORT");
  unsetenv("CLEW_NO_RELOAD");
}

TEST_F(CommandLine, WithoutAConfigurationItSaysWhatToDo) {
  EXPECT_EQ(run({"dev"}), 1);
  EXPECT_EQ(complaint,
            "clew dev: there is no clew.json here; name one with --config, or make a project with "
            "`clew new NAME`\n");
  EXPECT_EQ(run({"serve", "--config", "absent.json"}), 1);
  EXPECT_EQ(complaint, "clew serve: there is no file 'absent.json'\n");
}

TEST_F(CommandLine, WhatMakesNoSenseIsRefused) {
  write("clew.json", "{}");
  EXPECT_EQ(run({}), 2);
  EXPECT_EQ(run({"fly"}), 2);
  EXPECT_EQ(run({"dev", "--prot", "1"}), 2);
  EXPECT_EQ(run({"dev", "--port", "many"}), 2);
  EXPECT_EQ(run({"dev", "--port", "-1"}), 2);
  EXPECT_FALSE(served);
  EXPECT_EQ(run({"dev", "--port", "70000"}), 1);
  EXPECT_EQ(complaint, "clew dev: --port 70000 is no port; they end at 65535\n");
}

TEST_F(CommandLine, TheHelpShowsEveryFlagWithItsVariable) {
  EXPECT_EQ(run({"--help"}), 0);
  for (const char* command : {"dev", "serve", "new", "version"}) {
    EXPECT_THAT(printed, HasSubstr(command));
  }
  EXPECT_EQ(run({"serve", "--help"}), 0);
  for (const char* flag : {"--config", "--host", "--port", "--data", "--workers",
                           "--shutdown-timeout", "CLEW_CONFIG", "CLEW_SHUTDOWN_TIMEOUT"}) {
    EXPECT_THAT(printed, HasSubstr(flag));
  }
}

TEST_F(CommandLine, NewMakesAProjectThatTheConfigurationFits) {
  EXPECT_EQ(run({"new", "my_agent"}), 0) << complaint;
  EXPECT_THAT(printed, HasSubstr("cd my_agent && cmake --workflow --preset release\n"));
  for (const char* file : {".gitignore", "CMakeLists.txt", "CMakePresets.json", "README.md",
                           "agent.cpp", "clew.json"}) {
    EXPECT_TRUE(fs::exists(fs::path("my_agent") / file)) << file;
  }
  const server::ServerConfig config = server::load_config("my_agent/clew.json");
  ASSERT_EQ(config.graphs.size(), 1U);
  EXPECT_EQ(config.graphs[0].name, "my_agent");
  EXPECT_EQ(config.graphs[0].library.filename(), "libmy_agent.so");
}

TEST_F(CommandLine, NewOverwritesNothingAndTakesNoOddNames) {
  fs::create_directory("taken");
  EXPECT_EQ(run({"new", "taken"}), 1);
  EXPECT_EQ(complaint, "clew new: 'taken' is there already\n");
  EXPECT_EQ(run({"new", "../up"}), 1);
  EXPECT_EQ(complaint,
            "clew new: '../up' cannot be the name of a project: take a letter, then letters, "
            "digits, - and _\n");
}

TEST_F(CommandLine, VersionIsOneLine) {
  EXPECT_EQ(run({"version"}), 0);
  EXPECT_THAT(printed, testing::MatchesRegex("clew [0-9.]+ .plugin ABI 1.\n"));
}

}  // namespace
}  // namespace clew::cli
