// Bytes on their way to a socket: up to three pieces that go out in one call.
#pragma once

// Boost 1.74 misses this include.
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>

namespace clew::server {

class Output {
 public:
  void set(std::string head, std::string body = {}, std::string tail = {}) {
    pieces_ = {std::move(head), std::move(body), std::move(tail)};
    sent_ = 0;
  }

  bool empty() const { return sent_ == pieces_[0].size() + pieces_[1].size() + pieces_[2].size(); }

  std::array<boost::asio::const_buffer, 3> buffers() const {
    std::array<boost::asio::const_buffer, 3> rest;
    std::size_t skip = sent_;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      rest[i] = boost::asio::buffer(pieces_[i]) + skip;
      skip -= std::min(skip, pieces_[i].size());
    }
    return rest;
  }

  void sent(std::size_t bytes) {
    sent_ += bytes;
    if (empty()) set({});
  }

 private:
  std::array<std::string, 3> pieces_;
  std::size_t sent_ = 0;
};

}  // namespace clew::server
