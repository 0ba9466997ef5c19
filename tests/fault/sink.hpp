// An append-only file in which the processes of a test note what they did. A line
// that was written stays when its process is killed; one that a kill cut in two,
// which happens where pages meet, does not count.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace clew::fault {

class Sink {
 public:
  using Line = std::vector<std::string>;  // its words

  explicit Sink(std::string path);
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink();

  // Words must not hold spaces. From any thread.
  void note(std::initializer_list<std::string_view> words);

  std::vector<Line> lines() const;

 private:
  std::string path_;
  int file_;
};

}  // namespace clew::fault
