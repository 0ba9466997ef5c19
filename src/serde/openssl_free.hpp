// Lets std::unique_ptr own what OpenSSL made.
#pragma once

namespace clew::internal {

template <auto free_function>
struct OpensslFree {
  template <class T>
  void operator()(T* pointer) const noexcept {
    free_function(pointer);
  }
};

}  // namespace clew::internal
