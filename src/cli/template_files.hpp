// The files of template/, which are part of the program.
#pragma once

#include <string>
#include <vector>

namespace clew::cli {

struct TemplateFile {
  std::string name;
  std::string text;  // with {{name}} where the project's name goes
};

std::vector<TemplateFile> template_files();

}  // namespace clew::cli
