// What a service answers when it cannot do what was asked: the status that HTTP
// has for it and a text for the caller. Never holds SQL, paths or secrets.
#pragma once

#include <string>
#include <utility>

#include <clew/error.hpp>

namespace clew::server {

class ServiceError : public Error {
 public:
  ServiceError(int status, std::string detail)
      : Error(detail), status_(status), detail_(std::move(detail)) {}

  int status() const noexcept { return status_; }
  const std::string& detail() const noexcept { return detail_; }

 private:
  int status_;
  std::string detail_;
};

}  // namespace clew::server
