#include "sink.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <clew/error.hpp>

namespace clew::fault {
namespace {

constexpr std::string_view kLineEnd = ".";

}  // namespace

Sink::Sink(std::string path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
  if (file_ < 0) throw Error("cannot open '" + path_ + "'");
}

Sink::~Sink() { ::close(file_); }

void Sink::note(std::initializer_list<std::string_view> words) {
  std::string line = "\n";
  for (std::string_view word : words) {
    line += word;
    line += ' ';
  }
  line += kLineEnd;
  if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw Error("cannot write '" + path_ + "'");
  }
}

std::vector<Sink::Line> Sink::lines() const {
  std::vector<Line> found;
  std::ifstream file(path_);
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    Line line;
    for (std::string word; words >> word;) line.push_back(word);
    if (line.empty() || line.back() != kLineEnd) continue;
    line.pop_back();
    found.push_back(std::move(line));
  }
  return found;
}

}  // namespace clew::fault
