#include "cli/target.hpp"

#include <filesystem>

#include <clew/error.hpp>

namespace clew::cli {

std::vector<Flag> target_flags() {
  return {{"layout",
           "Which tables a new database gets; native if it is not said",
           Flag::Form::text,
           "",
           "LAYOUT",
           {"native", "langgraph"}},
          {"skip-existing",
           "Leave alone the threads that are there already, and complete those that are there in"
           " part",
           Flag::Form::toggle}};
}

Database open_target(const std::string& name, const Arguments& arguments) {
  const std::string wanted = arguments.text("layout");
  const SqliteLayout layout =
      wanted == "langgraph" ? SqliteLayout::langgraph : SqliteLayout::automatic;
  Database target = Database::open_or_make(name, layout);
  const bool is_native = target.saver().layout() == SqliteLayout::native;
  if (wanted.empty() || is_native == (wanted == "native")) return target;
  throw Error("'" + target.path() + "' has the " + (is_native ? "native" : "LangGraph") +
              " layout; --layout is for files that are made");
}

}  // namespace clew::cli
