// What all that use libcurl do alike.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <curl/curl.h>

#include "store/embeddings/http_client.hpp"

namespace clew::embeddings {

inline void start_libcurl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) {
    throw HttpError(std::string("libcurl does not start: ") + curl_easy_strerror(started), false);
  }
}

struct FreeEasyHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
// libcurl keeps the open connections of a handle inside it, unless it belongs to
// a multi handle.
using EasyHandle = std::unique_ptr<CURL, FreeEasyHandle>;

inline EasyHandle new_easy_handle() {
  EasyHandle handle(curl_easy_init());
  if (!handle) throw std::bad_alloc();
  return handle;
}

template <class Option>
void set(CURL* curl, CURLoption option, Option value) {
  const CURLcode code = curl_easy_setopt(curl, option, value);
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLE_OK) {
    throw HttpError(std::string("libcurl refuses an option: ") + curl_easy_strerror(code), false);
  }
}

struct FreeHeaderList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeHeaderList>;

inline HeaderList header_list(const std::vector<std::string>& headers) {
  HeaderList list;
  const auto add = [&list](const char* header) {
    curl_slist* longer = curl_slist_append(list.get(), header);
    if (!longer) throw std::bad_alloc();
    list.release();
    list.reset(longer);
  };
  // Without this, a large body waits for a go-ahead that many servers never send.
  add("Expect:");
  for (const std::string& header : headers) add(header.c_str());
  return list;
}

// libcurl leaves these variables to the command line tool.
inline const char* certificates_of_environment() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* file = std::getenv(name);
    if (file && *file) return file;
  }
  return nullptr;
}

// libcurl takes at most an int, which is 24 days.
inline long in_milliseconds(std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kLongest{std::numeric_limits<int>::max()};
  return static_cast<long>(std::min(limit, kLongest).count());
}

// A POST of `body`, which must stay where it is until the request is over, as
// must `headers`. Redirects are not followed.
inline void set_post(CURL* curl, const std::string& url, const std::string& body,
                     const HeaderList& headers, std::chrono::milliseconds timeout,
                     std::chrono::milliseconds connect_timeout) {
  set(curl, CURLOPT_URL, url.c_str());
  set(curl, CURLOPT_HTTPHEADER, headers.get());
  set(curl, CURLOPT_POST, 1L);
  set(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  set(curl, CURLOPT_POSTFIELDS, body.c_str());
  set(curl, CURLOPT_USERAGENT, "clew");
  set(curl, CURLOPT_TIMEOUT_MS, in_milliseconds(timeout));
  set(curl, CURLOPT_CONNECTTIMEOUT_MS, in_milliseconds(connect_timeout));
  set(curl, CURLOPT_NOSIGNAL, 1L);  // signals are for programs with one thread
  if (const char* file = certificates_of_environment()) set(curl, CURLOPT_CAINFO, file);
}

}  // namespace clew::embeddings
