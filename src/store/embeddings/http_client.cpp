#include "store/embeddings/http_client.hpp"

#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "store/embeddings/http_client_curl.hpp"

namespace clew::embeddings {

struct HttpClient::Connection {
  EasyHandle handle = new_easy_handle();
  CURL* curl = handle.get();
};

namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

// What libcurl calls back with while a request is under way.
struct Transfer {
  std::string body;
  std::size_t max_bytes;
  const std::stop_token& stop;
  bool is_too_large = false;
  char reason[CURL_ERROR_SIZE] = {};
};

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) noexcept {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.is_too_large = size > transfer.max_bytes - transfer.body.size();
  if (transfer.is_too_large) return 0;
  try {
    transfer.body.append(data, size);
  } catch (const std::exception&) {
    return 0;
  }
  return size;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
  return static_cast<Transfer*>(user)->stop.stop_requested() ? 1 : 0;
}

void prepare(CURL* curl, const HttpOptions& options, const HttpRequest& request,
             const HeaderList& headers, Transfer& transfer) {
  set_post(curl, request.url, request.body, headers, options.timeout, options.connect_timeout);
  set(curl, CURLOPT_ACCEPT_ENCODING, "");  // all that libcurl can undo
  if (!options.proxy.empty()) set(curl, CURLOPT_PROXY, options.proxy.c_str());

  set(curl, CURLOPT_WRITEFUNCTION, &on_body);
  set(curl, CURLOPT_WRITEDATA, &transfer);
  set(curl, CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(curl, CURLOPT_XFERINFODATA, &transfer);
  set(curl, CURLOPT_NOPROGRESS, 0L);
  set(curl, CURLOPT_ERRORBUFFER, transfer.reason);
}

std::string reason_of(CURLcode code, const Transfer& transfer) {
  return transfer.reason[0] != '\0' ? transfer.reason : curl_easy_strerror(code);
}

std::string refusal_of(CURL* curl, CURLcode code, const Transfer& transfer) {
  long number = 0;
  curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &number);
  if (number == 0) return reason_of(code, transfer);
  return std::generic_category().message(static_cast<int>(number));
}

std::string timeout_text(CURL* curl, const std::string& endpoint, const HttpOptions& options) {
  curl_off_t connected = 0;
  curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &connected);
  if (connected == 0 && options.connect_timeout <= options.timeout) {
    return fmt::format("no connection to {} within {} ms; connect_timeout allows longer", endpoint,
                       options.connect_timeout.count());
  }
  return fmt::format("no complete answer from {} within {} ms; timeout allows longer", endpoint,
                     options.timeout.count());
}

// libcurl's errors become ours here and nowhere else.
HttpError error_of(CURL* curl, CURLcode code, const std::string& endpoint,
                   const HttpOptions& options, const Transfer& transfer) {
  if (transfer.is_too_large) {
    return {fmt::format("the answer of {} is longer than {} bytes", endpoint, transfer.max_bytes),
            false};
  }
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      return {fmt::format("cannot connect to {}: {}", endpoint, refusal_of(curl, code, transfer)),
              true};
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {fmt::format("cannot connect to {}: {}", endpoint, reason_of(code, transfer)), true};
    case CURLE_OPERATION_TIMEDOUT: return {timeout_text(curl, endpoint, options), true};
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return {fmt::format("the connection to {} broke before the answer was complete: {}", endpoint,
                          reason_of(code, transfer)),
              true};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return {fmt::format("the certificate of {} cannot be trusted: {}; SSL_CERT_FILE names the "
                          "file of the authorities",
                          endpoint, reason_of(code, transfer)),
              false};
    case CURLE_ABORTED_BY_CALLBACK:
      return {fmt::format("the request to {} was stopped", endpoint), false};
    default:
      return {fmt::format("the request to {} failed: {}", endpoint, reason_of(code, transfer)),
              false};
  }
}

HttpResponse response_of(CURL* curl, Transfer& transfer) {
  HttpResponse response{.body = std::move(transfer.body)};
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  curl_off_t seconds = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds);
  if (seconds > 0) response.retry_after = std::chrono::seconds(seconds);
  char* location = nullptr;
  curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &location);
  if (location) response.location = location;
  return response;
}

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

}  // namespace

std::string endpoint_of(const std::string& url) {
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (!parsed) throw std::bad_alloc();
  const bool is_url = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK;
  const std::string scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  if (!is_url || (scheme != "http" && scheme != "https")) {
    throw ValueError("expected a URL that begins with http:// or https://");
  }
  return part_of(parsed.get(), CURLUPART_HOST) + ":" + part_of(parsed.get(), CURLUPART_PORT);
}

HttpClient::HttpClient(HttpOptions options) : options_(std::move(options)) { start_libcurl(); }

HttpClient::~HttpClient() = default;

HttpResponse HttpClient::post(const HttpRequest& request, const std::stop_token& stop) {
  const HeaderList headers = header_list(request.headers);
  Transfer transfer{.body = {}, .max_bytes = options_.max_bytes, .stop = stop};
  std::unique_ptr<Connection> connection = take_connection();
  prepare(connection->curl, options_, request, headers, transfer);
  const CURLcode code = curl_easy_perform(connection->curl);
  if (code != CURLE_OK) {
    throw error_of(connection->curl, code, endpoint_of(request.url), options_, transfer);
  }
  HttpResponse response = response_of(connection->curl, transfer);
  curl_easy_reset(connection->curl);  // forgets what ends here; open connections stay
  keep(std::move(connection));
  return response;
}

std::unique_ptr<HttpClient::Connection> HttpClient::take_connection() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return std::make_unique<Connection>();
}

void HttpClient::keep(std::unique_ptr<Connection> connection) {
  constexpr std::size_t kMostKept = 16;
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostKept) idle_.push_back(std::move(connection));
}

}  // namespace clew::embeddings
