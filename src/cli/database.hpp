// The database that a command looks into, and how it is named on the command line.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <clew/cipher.hpp>
#include <clew/sqlite_saver.hpp>
#include <clew/sqlite_store.hpp>

#include "cli/command.hpp"

namespace clew::cli {

class Database {
 public:
  // "sqlite:PATH", or just the path. Empty: that of `clew dev` in this folder.
  // Encrypted ones are opened with LANGGRAPH_AES_KEY. Throws Error if there is no
  // such database, or if the file is none; nothing is made.
  static Database open(const std::string& name);
  // The same, but the file is made if it is not there; `layout` is what it then gets. Also
  // for a file that has no threads yet.
  static Database open_or_make(const std::string& name, SqliteLayout layout);

  const std::string& path() const { return path_; }

  // Those that `texts` name; all if there are none. Of what comes twice, once.
  std::vector<std::string> threads(const std::vector<std::string>& texts);

  // Throws Error if there are no threads in the file, or no memories.
  SqliteSaver& saver();
  SqliteStore& store();
  // The same, but made if it is not there.
  SqliteStore& store_or_make();
  // How the values of threads become bytes.
  std::shared_ptr<const Serializer> serializer() const;
  bool has_threads() const { return has_threads_; }
  // Whether an Agent Server keeps its records in the file too.
  bool has_server() const { return has_server_; }
  // Whether something of the thread is encrypted.
  bool is_encrypted(const std::string& thread_id);
  // Null without LANGGRAPH_AES_KEY.
  const std::shared_ptr<const Cipher>& cipher() const { return cipher_; }

  // The id that `text` is, or that alone begins or ends so. Throws Error otherwise, with
  // the ids that are near.
  std::string thread(const std::string& text);

  // The same, for what cannot be undone: the whole id.
  std::string exact_thread(const std::string& text);

  // The checkpoint that `text` names: its id or the end of it that no other has, or a
  // thread, for its newest one. In `thread_id`, or in whichever thread has it. An empty
  // text: the newest of `thread_id`.
  CheckpointKey checkpoint(const std::string& text, const std::string& thread_id = {});

 private:
  explicit Database(std::string path);

  bool has_thread(const std::string& id);
  std::vector<std::string> thread_ids();

  std::string path_;
  bool has_threads_ = false;
  bool has_store_ = false;
  bool has_server_ = false;
  SqliteLayout layout_ = SqliteLayout::automatic;
  std::shared_ptr<const Cipher> cipher_;
  std::shared_ptr<SqliteSaver> saver_;
  std::shared_ptr<SqliteStore> store_;
};

// What a command does with the database that the command line names.
using DatabaseRun =
    std::function<int(Database& database, const Arguments& arguments, Console& console)>;

// `command` with the flags --db, --json and --color, and with `run` for what it does.
// If it has a positional "database", that names the database too.
Command database_command(Command command, DatabaseRun run);

// --db, --json, --color; of these --json and --color for commands that open no database,
// or several.
std::vector<Flag> output_flags();
Flag database_flag();
void apply_color(const Arguments& arguments, Console& console);

// A checkpoint id as tables show it: the end, which alone differs from others.
std::string short_id(const std::string& checkpoint_id);

// As --json prints it.
void print_json(Console& console, const Value& value);

}  // namespace clew::cli
