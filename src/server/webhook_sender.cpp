#include "server/webhook_sender.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <clew/json.hpp>

#include "store/embeddings/http_client_curl.hpp"

namespace clew::server {
namespace {

using embeddings::EasyHandle;
using embeddings::HeaderList;
using embeddings::set;
using SteadyTime = std::chrono::steady_clock::time_point;

struct Sending {
  std::string url;
  std::string body;
  std::function<void(bool)> done;
};

struct FreeMultiHandle {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
using MultiHandle = std::unique_ptr<CURLM, FreeMultiHandle>;

// "" for what is no address of the internet.
std::string address_text(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  } else if (address.sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  if (!bytes || !inet_ntop(address.sa_family, bytes, text, sizeof text)) return {};
  return text;
}

curl_socket_t open_socket(void* user, curlsocktype, curl_sockaddr* address) noexcept {
  const auto& policy = *static_cast<const WebhookPolicy*>(user);
  try {
    const std::string text = address_text(address->addr);
    if (text.empty() || !may_reach(text, policy)) return CURL_SOCKET_BAD;
  } catch (const std::exception&) {
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// What a receiver answers beside its status does not matter.
std::size_t on_answer(char*, std::size_t, std::size_t size, void*) noexcept { return size; }

bool is_taken(CURL* curl, CURLcode code) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return code == CURLE_OK && status >= 200 && status < 300;
}

}  // namespace

class HttpWebhookSender::Loop {
 public:
  Loop(const WebhookPolicy& policy, const WebhookSenderOptions& options)
      : policy_(policy),
        options_(options),
        headers_(embeddings::header_list({"Content-Type: application/json"})),
        multi_(curl_multi_init()) {
    if (!multi_) throw std::bad_alloc();
    thread_ = std::thread([this] { run(); });
  }

  ~Loop() {
    {
      const std::lock_guard lock(mutex_);
      ends_at_ = std::chrono::steady_clock::now() + options_.grace;
    }
    curl_multi_wakeup(multi_.get());
    thread_.join();
  }

  void send(Sending sending) {
    bool has_room = false;
    {
      const std::lock_guard lock(mutex_);
      has_room = waiting_.size() < options_.max_waiting;
      if (has_room) waiting_.push_back(std::move(sending));
    }
    if (!has_room) return sending.done(false);
    curl_multi_wakeup(multi_.get());
  }

 private:
  struct Transfer {
    std::unique_ptr<const Sending> sending;  // libcurl looks at it
    EasyHandle handle;
  };

  void run() {
    while (true) {
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      end_finished();
      start_waiting();
      if (is_over()) break;
      // libcurl wakes up earlier for a socket, one of its own timeouts or a wakeup.
      curl_multi_poll(multi_.get(), nullptr, 0, poll_milliseconds(), nullptr);
    }
    give_up();
  }

  void start_waiting() {
    while (transfers_.size() < options_.max_concurrent) {
      Sending next;
      {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) return;
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      start(std::move(next));
    }
  }

  void start(Sending sending) {
    const std::function<void(bool)> done = sending.done;
    try {
      Transfer transfer{std::make_unique<const Sending>(std::move(sending)),
                        embeddings::new_easy_handle()};
      CURL* curl = transfer.handle.get();
      prepare(curl, *transfer.sending);
      const auto kept = transfers_.emplace(curl, std::move(transfer)).first;
      if (curl_multi_add_handle(multi_.get(), curl) == CURLM_OK) return;
      transfers_.erase(kept);
    } catch (const std::exception&) {
      // libcurl refuses the URL, or there is no memory.
    }
    done(false);
  }

  void prepare(CURL* curl, const Sending& sending) {
    embeddings::set_post(curl, sending.url, sending.body, headers_, options_.timeout,
                         options_.connect_timeout);
    set(curl, CURLOPT_PROTOCOLS_STR, policy_.require_https ? "https" : "http,https");
    set(curl, CURLOPT_FOLLOWLOCATION, 0L);
    set(curl, CURLOPT_QUICK_EXIT, 1L);  // whoever resolves a name for long is not waited for
    set(curl, CURLOPT_OPENSOCKETFUNCTION, &open_socket);
    set(curl, CURLOPT_OPENSOCKETDATA, &policy_);
    if (policy_.disable_loopback || policy_.disable_private_ips) set(curl, CURLOPT_NOPROXY, "*");
    set(curl, CURLOPT_WRITEFUNCTION, &on_answer);
  }

  void end_finished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      end(message->easy_handle, is_taken(message->easy_handle, message->data.result));
    }
  }

  void end(CURL* curl, bool is_taken) {
    curl_multi_remove_handle(multi_.get(), curl);
    const auto found = transfers_.find(curl);
    const std::function<void(bool)> done = found->second.sending->done;
    transfers_.erase(found);
    done(is_taken);
  }

  bool is_over() {
    const std::lock_guard lock(mutex_);
    if (!ends_at_) return false;
    return (waiting_.empty() && transfers_.empty()) ||
           std::chrono::steady_clock::now() >= *ends_at_;
  }

  int poll_milliseconds() {
    constexpr std::chrono::milliseconds kLongest{60'000};
    const std::lock_guard lock(mutex_);
    if (!ends_at_) return static_cast<int>(kLongest.count());
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*ends_at_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLongest).count());
  }

  void give_up() {
    while (!transfers_.empty()) end(transfers_.begin()->first, false);
    for (const Sending& sending : waiting_) sending.done(false);
  }

  const WebhookPolicy policy_;
  const WebhookSenderOptions options_;
  const HeaderList headers_;
  const MultiHandle multi_;

  std::mutex mutex_;
  std::deque<Sending> waiting_;        // guarded by mutex_, as the next
  std::optional<SteadyTime> ends_at_;  // set when it ends

  std::map<CURL*, Transfer> transfers_;  // the thread's own
  std::thread thread_;
};

HttpWebhookSender::HttpWebhookSender(WebhookPolicy policy, WebhookSenderOptions options) {
  embeddings::start_libcurl();
  loop_ = std::make_unique<Loop>(policy, options);
}

HttpWebhookSender::~HttpWebhookSender() = default;

void HttpWebhookSender::send(const std::string& url, const Value& body,
                             std::function<void(bool is_taken)> done) {
  loop_->send({url, to_json(body, {.non_finite = NonFinite::null}), std::move(done)});
}

}  // namespace clew::server
