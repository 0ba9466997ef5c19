// clew export: threads as text.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>

#include <clew/error.hpp>

#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/export_format.hpp"
#include "cli/interrupt.hpp"
#include "cli/partitions.hpp"
#include "cli/progress.hpp"
#include "cli/removal.hpp"
#include "cli/table.hpp"

namespace clew::cli {
namespace {

namespace fs = std::filesystem;

// A file with its errors.
class OutputFile {
 public:
  explicit OutputFile(fs::path path) : path_(std::move(path)) {
    if (fs::exists(path_)) {
      throw Error("'" + path_.string() + "' is there already; remove it or name another one");
    }
    errno = 0;
    file_.open(path_, std::ios::binary);
    check();
  }

  std::ostream& stream() { return file_; }

  void check() {
    if (file_) return;
    throw Error("cannot write '" + path_.string() + "': " + std::strerror(errno));
  }

  void finish() {
    file_.close();
    check();
  }

 private:
  const fs::path path_;
  std::ofstream file_;
};

// Where threads go.
class Destination {
 public:
  virtual ~Destination() = default;
  virtual void write(const std::string& thread_id, std::vector<CheckpointTuple> checkpoints) = 0;
  virtual void finish() = 0;
};

class ToConsole final : public Destination {
 public:
  explicit ToConsole(Console& console) : writer_(console.out) {}
  void write(const std::string& thread_id, std::vector<CheckpointTuple> checkpoints) override {
    writer_.write(thread_id, std::move(checkpoints));
  }
  void finish() override {}

 private:
  ExportWriter writer_;
};

class ToFile final : public Destination {
 public:
  explicit ToFile(const fs::path& path) : file_(path), writer_(file_.stream()) {}
  void write(const std::string& thread_id, std::vector<CheckpointTuple> checkpoints) override {
    writer_.write(thread_id, std::move(checkpoints));
    file_.stream().flush();
    file_.check();
  }
  void finish() override { file_.finish(); }

 private:
  OutputFile file_;
  ExportWriter writer_;
};

// A file for each thread.
class ToFolder final : public Destination {
 public:
  explicit ToFolder(fs::path folder) : folder_(std::move(folder)) {
    fs::create_directories(folder_);
  }
  void write(const std::string& thread_id, std::vector<CheckpointTuple> checkpoints) override {
    ToFile file(folder_ / (file_name(thread_id) + ".jsonl"));
    file.write(thread_id, std::move(checkpoints));
    file.finish();
  }
  void finish() override {}

 private:
  // Letters, digits and a few signs stay; other bytes become %XX.
  static std::string file_name(const std::string& thread_id) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    constexpr std::string_view kSigns = "-_@+=,";
    std::string name;
    for (const char c : thread_id) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) || kSigns.find(c) != std::string_view::npos) {
        name += c;
      } else {
        name += '%';
        name += kDigits[byte >> 4];
        name += kDigits[byte & 0xF];
      }
    }
    return name;
  }

  const fs::path folder_;
};

class ToPartitions final : public Destination {
 public:
  explicit ToPartitions(const fs::path& folder) : writer_(folder) {}
  void write(const std::string& thread_id, std::vector<CheckpointTuple> checkpoints) override {
    writer_.write(thread_id, std::move(checkpoints));
  }
  void finish() override { writer_.finish(); }

 private:
  PartitionWriter writer_;
};

std::unique_ptr<Destination> destination_of(const Arguments& arguments, Console& console) {
  const std::string output = arguments.text("output");
  if (arguments.is_on("by-day")) {
    if (output.empty()) throw Error("--by-day makes a folder: name it with --output");
    return std::make_unique<ToPartitions>(output);
  }
  if (output.empty()) return std::make_unique<ToConsole>(console);
  if (output.ends_with('/') || fs::is_directory(output)) return std::make_unique<ToFolder>(output);
  return std::make_unique<ToFile>(output);
}

void check_may_be_read(Database& database, const std::vector<std::string>& ids,
                       const Arguments& arguments) {
  if (arguments.is_on("decrypt")) return;
  for (const std::string& id : ids) {
    if (!database.is_encrypted(id)) continue;
    throw Error("thread '" + id +
                "' is encrypted, and an export is plain text: say --decrypt if that is what you"
                " want; `clew copy` keeps it encrypted");
  }
}

int export_threads(Database& database, const Arguments& arguments, Console& console) {
  const std::vector<std::string> ids = database.threads(arguments.texts("thread"));
  check_may_be_read(database, ids, arguments);
  const std::unique_ptr<Destination> destination = destination_of(arguments, console);
  const Interrupt interrupt(console);
  std::size_t done = 0;
  std::size_t checkpoints = 0;
  {
    Progress progress(console, "export", "threads", ids.size());
    for (const std::string& id : ids) {
      if (console.stop.stop_requested()) break;
      std::vector<CheckpointTuple> tuples = database.saver().list(id, std::nullopt, {});
      checkpoints += tuples.size();
      destination->write(id, std::move(tuples));
      progress.set(++done);
    }
    destination->finish();
  }
  if (arguments.has("output")) {
    if (arguments.is_on("json")) {
      print_json(console, object({{"complete", done == ids.size()},
                                  {"threads", done},
                                  {"checkpoints", checkpoints},
                                  {"output", arguments.text("output")}}));
    } else {
      console.out << "Exported " << counted(done, "thread") << ", "
                  << counted(checkpoints, "checkpoint") << ", to " << arguments.text("output")
                  << ".\n";
    }
  }
  if (done == ids.size()) return 0;
  console.error << "stopped after " << counted(done, "thread") << " of " << count_text(ids.size())
                << "; what is written is whole\n";
  return Interrupt::kStatus;
}

}  // namespace

Command export_command() {
  Command command;
  command.name = "export";
  command.help = "Write threads as lines of JSON, which clew import reads";
  command.positionals = {
      {"thread", "The threads; all if none is named", Positional::Form::repeated}};
  command.flags = {
      {"output", "The file; or a folder, for a file for each thread. Without it: printed",
       Flag::Form::text, "", "PATH"},
      {"by-day",
       "Write tables for a data warehouse instead, in a folder dt=YYYY-MM-DD for each day",
       Flag::Form::toggle},
      {"decrypt", "Also export encrypted threads, as plain text", Flag::Form::toggle},
  };
  return database_command(std::move(command), export_threads);
}

}  // namespace clew::cli
