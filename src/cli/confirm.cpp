#include "cli/confirm.hpp"

#include <clew/error.hpp>

namespace clew::cli {

std::vector<Flag> confirm_flags() {
  return {{"dry-run", "Only say what would be done", Flag::Form::toggle},
          {"yes", "Do not ask", Flag::Form::toggle}};
}

bool confirm(const std::string& question, const Arguments& arguments, Console& console) {
  if (arguments.is_on("yes")) return true;
  if (console.in == nullptr) {
    throw Error("nobody is here to be asked: say --yes, or --dry-run to see what would go");
  }
  console.error << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(*console.in, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace clew::cli
