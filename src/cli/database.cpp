#include "cli/database.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>

#include <clew/encrypted.hpp>
#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "cli/near.hpp"
#include "server/sqlite_repository.hpp"
#include "server/storage.hpp"

namespace clew::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultPath = ".clew/clew.db";

// The path that a name stands for.
std::string path_of(const std::string& name) {
  if (name.empty()) {
    if (fs::exists(kDefaultPath)) return kDefaultPath;
    throw Error(
        "no database is named: say --db sqlite:PATH, or set CLEW_DB (without either it is the one "
        "of `clew dev`, .clew/clew.db, which is not here)");
  }
  const std::size_t colon = name.find(':');
  const std::string scheme = name.substr(0, colon == std::string::npos ? 0 : colon);
  if (scheme == "sqlite") {
    std::string path = name.substr(colon + 1);
    if (path.starts_with("///")) path.erase(0, 2);  // sqlite:///absolute/path
    return path;
  }
  if (scheme.size() > 1 && !fs::exists(name)) {
    throw Error("'" + name + "' names a database of the kind '" + scheme +
                "', which this clew does not open; it opens sqlite:PATH");
  }
  return name;
}

void check_is_sqlite(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  if (fs::is_directory(path)) {
    const fs::path inside = fs::path(path) / "clew.db";
    throw Error("'" + path + "' is a folder" +
                (fs::exists(inside) ? "; its database is '" + inside.string() + "'" : ""));
  }
  if (!fs::exists(path)) throw Error("there is no file '" + path + "'");
  std::ifstream file(path, std::ios::binary);
  std::string start(kMagic.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (!file.is_open()) throw Error("the file '" + path + "' cannot be read");
  // What was killed while it made the file has left nothing in it, or what SQLite will undo.
  const bool is_unmade = fs::file_size(path) == 0 || fs::exists(path + "-journal");
  if (!is_unmade && (!file || start != kMagic))
    throw Error("'" + path + "' is not a SQLite database");
}

// A file may hold plain threads beside encrypted ones; a look at them is not a run
// that trusts them.
std::shared_ptr<const Serializer> serializer_of(const std::shared_ptr<const Cipher>& cipher) {
  EncryptedOptions options;
  options.allow_plaintext = true;
  return std::make_shared<EncryptedSerializer>(cipher, options);
}

// The only one of `ids` that is `text`, or that begins or ends so.
std::optional<std::string> only_match(const std::string& text,
                                      const std::vector<std::string>& ids) {
  std::optional<std::string> match;
  for (const std::string& id : ids) {
    if (id == text) return id;
    if (text.empty() || !(id.starts_with(text) || id.ends_with(text))) continue;
    if (match) return std::nullopt;
    match = id;
  }
  return match;
}

}  // namespace

Database::Database(std::string path)
    : path_(std::move(path)), cipher_(server::cipher_of_environment()) {
  if (!fs::exists(path_)) return;
  check_is_sqlite(path_);
  has_threads_ = SqliteSaver::is_in(path_);
  has_store_ = SqliteStore::is_in(path_);
  has_server_ = server::is_sqlite_repository(path_);
}

Database Database::open(const std::string& name) {
  const std::string path = path_of(name);
  check_is_sqlite(path);
  return Database(path);
}

Database Database::open_or_make(const std::string& name, SqliteLayout layout) {
  Database database(path_of(name));
  if (!database.has_threads_) database.layout_ = layout;
  database.has_threads_ = true;
  return database;
}

std::shared_ptr<const Serializer> Database::serializer() const {
  if (cipher_) return serializer_of(cipher_);
  return std::make_shared<JsonPlusSerializer>();
}

SqliteSaver& Database::saver() {
  if (!has_threads_) throw Error("there are no threads in '" + path_ + "'");
  if (!saver_) {
    SqliteOptions options;
    options.layout = layout_;
    options.serializer = serializer();
    saver_ = SqliteSaver::open(path_, std::move(options));
  }
  return *saver_;
}

SqliteStore& Database::store() {
  if (!has_store_) throw Error("there is no memory store in '" + path_ + "'");
  if (!store_) {
    SqliteStoreOptions options;
    options.cipher = cipher_;
    store_ = SqliteStore::open(path_, std::move(options));
  }
  return *store_;
}

SqliteStore& Database::store_or_make() {
  has_store_ = true;
  return store();
}

std::vector<std::string> Database::threads(const std::vector<std::string>& texts) {
  if (texts.empty()) return thread_ids();
  std::vector<std::string> ids;
  for (const std::string& text : texts) {
    std::string id = thread(text);
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
  }
  return ids;
}

std::vector<std::string> Database::thread_ids() {
  std::vector<std::string> ids;
  // Also of threads that cannot be read, for want of a key.
  const Value rows = saver().query("SELECT DISTINCT thread_id FROM checkpoints ORDER BY thread_id");
  for (const Value& row : rows) ids.emplace_back(row["thread_id"].as_string());
  return ids;
}

// Also one that cannot be read.
bool Database::has_thread(const std::string& id) {
  return !saver()
              .query("SELECT 1 FROM checkpoints WHERE thread_id = ? LIMIT 1", list({id}))
              .empty();
}

std::string Database::thread(const std::string& text) {
  if (has_thread(text)) return text;
  const std::vector<std::string> ids = thread_ids();
  if (const auto match = only_match(text, ids)) return *match;
  throw Error("there is no thread '" + text + "'" + did_you_mean(text, ids));
}

// The tag of what a cipher made is "msgpack+aes".
bool Database::is_encrypted(const std::string& thread_id) {
  constexpr const char* kNative =
      "SELECT 1 FROM checkpoints WHERE thread_id = ?1 AND instr(type || metadata_type, '+')"
      " UNION ALL SELECT 1 FROM checkpoint_blobs WHERE thread_id = ?1 AND instr(type, '+')"
      " UNION ALL SELECT 1 FROM checkpoint_writes WHERE thread_id = ?1 AND instr(type, '+')"
      " LIMIT 1";
  constexpr const char* kLangGraph =
      "SELECT 1 FROM checkpoints WHERE thread_id = ?1 AND instr(type, '+')"
      " UNION ALL SELECT 1 FROM writes WHERE thread_id = ?1 AND instr(type, '+') LIMIT 1";
  const bool is_native = saver().layout() == SqliteLayout::native;
  return !saver().query(is_native ? kNative : kLangGraph, list({thread_id})).empty();
}

std::string Database::exact_thread(const std::string& text) {
  if (has_thread(text)) return text;
  throw Error("there is no thread '" + text + "'" + did_you_mean(text, thread_ids()));
}

CheckpointKey Database::checkpoint(const std::string& text, const std::string& thread_id) {
  if (text.empty() && thread_id.empty()) throw Error("no checkpoint is named");
  if (text.empty()) return {thread_id};
  std::vector<CheckpointKey> keys;
  std::vector<std::string> ids;
  const Value rows = saver().query(
      "SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints"
      " WHERE (?1 = '' OR thread_id = ?1) AND substr(checkpoint_id, -length(?2)) = ?2"
      " ORDER BY checkpoint_id LIMIT 10",
      list({thread_id, text}));
  for (const Value& row : rows) {
    keys.push_back({std::string(row["thread_id"].as_string()),
                    std::string(row["checkpoint_ns"].as_string()),
                    std::string(row["checkpoint_id"].as_string())});
  }
  if (keys.size() == 1) return keys.front();
  if (keys.size() > 1) {
    std::string where;
    for (const CheckpointKey& key : keys) {
      where += "\n  " + key.checkpoint_id + " of thread '" + key.thread_id + "'";
    }
    throw Error("several checkpoints are named '" + text +
                "'; say more of the id, or name the thread with --thread:" + where);
  }
  if (thread_id.empty() && has_thread(text)) return {text};
  const Value known = saver().query(
      "SELECT checkpoint_id FROM checkpoints WHERE ?1 = '' OR thread_id = ?1"
      " ORDER BY checkpoint_id DESC LIMIT 10000",
      list({thread_id}));
  for (const Value& row : known) {
    const auto id = row.get<std::string>("checkpoint_id");
    ids.push_back(text.find('-') == std::string::npos ? short_id(id) : id);
  }
  if (!thread_id.empty()) {
    throw Error("there is no checkpoint '" + text + "' in thread '" + thread_id + "'" +
                did_you_mean(text, ids));
  }
  for (std::string& id : thread_ids()) ids.push_back(std::move(id));
  throw Error("there is no checkpoint and no thread '" + text + "'" + did_you_mean(text, ids));
}

Flag database_flag() {
  return {"db", "The database: sqlite:PATH, or just the path; .clew/clew.db if it is not named",
          Flag::Form::text, "", "DATABASE"};
}

std::vector<Flag> output_flags() {
  return {{"json", "Print JSON", Flag::Form::toggle},
          {"color",
           "When to use colour; auto is on a terminal, unless NO_COLOR is set",
           Flag::Form::text,
           "auto",
           "WHEN",
           {"auto", "always", "never"}}};
}

void apply_color(const Arguments& arguments, Console& console) {
  const std::string when = arguments.text("color");
  if (when != "auto") console.has_colour = when == "always";
}

Command database_command(Command command, DatabaseRun run) {
  command.flags.push_back(database_flag());
  for (Flag& flag : output_flags()) command.flags.push_back(std::move(flag));
  bool has_positional = false;
  for (const Positional& positional : command.positionals) {
    has_positional = has_positional || positional.name == "database";
  }
  command.run = [run = std::move(run), has_positional](const Arguments& arguments,
                                                       Console& console) {
    apply_color(arguments, console);
    const bool is_positional = has_positional && arguments.has("database");
    Database database = Database::open(arguments.text(is_positional ? "database" : "db"));
    return run(database, arguments, console);
  };
  return command;
}

std::string short_id(const std::string& checkpoint_id) {
  const std::size_t dash = checkpoint_id.rfind('-');
  return dash == std::string::npos ? checkpoint_id : checkpoint_id.substr(dash + 1);
}

void print_json(Console& console, const Value& value) { console.out << to_json(value) << '\n'; }

}  // namespace clew::cli
