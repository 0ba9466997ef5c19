#include "server/webhook.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "server/config.hpp"
#include "server/http_text.hpp"
#include "server/service_error.hpp"

namespace clew::server {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw ServiceError(422, "Webhook host blocked: " + reason);
}

enum class Reach { everywhere, own_machine, own_network };

Reach reach_of_v4(std::uint32_t address) {
  const auto is_in = [address](std::uint32_t network, int bits) {
    return (address >> (32 - bits)) == (network >> (32 - bits));
  };
  // The unspecified address leads to the own machine.
  if (is_in(0x7F000000, 8) || is_in(0x00000000, 8)) return Reach::own_machine;
  const bool is_private = is_in(0x0A000000, 8) || is_in(0x64400000, 10) || is_in(0xA9FE0000, 16) ||
                          is_in(0xAC100000, 12) || is_in(0xC0000000, 24) || is_in(0xC0A80000, 16) ||
                          is_in(0xC6120000, 15) || is_in(0xE0000000, 3);
  return is_private ? Reach::own_network : Reach::everywhere;
}

Reach reach_of_v6(const in6_addr& address) {
  const unsigned char* bytes = address.s6_addr;
  const auto inner_v4 = [bytes](std::size_t offset) {
    std::uint32_t v4 = 0;
    std::memcpy(&v4, bytes + offset, 4);
    return reach_of_v4(ntohl(v4));
  };
  constexpr unsigned char kTranslated[12] = {0x00, 0x64, 0xFF, 0x9B};  // 64:ff9b::/96
  if (IN6_IS_ADDR_V4MAPPED(&address) || IN6_IS_ADDR_V4COMPAT(&address)) return inner_v4(12);
  if (std::memcmp(bytes, kTranslated, sizeof kTranslated) == 0) return inner_v4(12);
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return inner_v4(2);  // 6to4
  if (IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address)) {
    return Reach::own_machine;
  }
  const bool is_private = IN6_IS_ADDR_LINKLOCAL(&address) || IN6_IS_ADDR_SITELOCAL(&address) ||
                          IN6_IS_ADDR_MULTICAST(&address) || (bytes[0] & 0xFE) == 0xFC;
  return is_private ? Reach::own_network : Reach::everywhere;
}

// Names such as 127.1 or 0x7f000001 are addresses to some resolvers: what looks
// like a number is one.
Reach reach_of(std::string_view host) {
  const std::string text(host);
  in_addr v4{};
  in6_addr v6{};
  if (inet_aton(text.c_str(), &v4) == 1) return reach_of_v4(ntohl(v4.s_addr));
  if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) return reach_of_v6(v6);
  if (host == "localhost" || host.ends_with(".localhost")) return Reach::own_machine;
  return Reach::everywhere;
}

struct Url {
  std::string scheme;
  std::string host;
};

std::optional<Url> parse_url(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  Url url{lower_case(text.substr(0, colon)), {}};
  std::string_view authority = text.substr(colon + 3);
  authority = authority.substr(0, authority.find_first_of("/?#\\"));
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    url.host = lower_case(authority.substr(1, end - 1));
  } else {
    url.host = lower_case(authority.substr(0, authority.find(':')));
  }
  if (url.host.empty()) return std::nullopt;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7F) return std::nullopt;
  }
  return url;
}

}  // namespace

WebhookPolicy webhook_policy(const WebhookConfig& config) {
  WebhookPolicy policy;
  policy.require_https = config.require_https;
  policy.disable_loopback = config.disable_loopback;
  policy.disable_private_ips = config.disable_private_ips;
  return policy;
}

bool may_reach(std::string_view address, const WebhookPolicy& policy) {
  switch (reach_of(address)) {
    case Reach::own_machine: return !policy.disable_loopback;
    case Reach::own_network: return !policy.disable_private_ips;
    case Reach::everywhere: return true;
  }
  return false;
}

void check_webhook(std::string_view text, const WebhookPolicy& policy) {
  const std::optional<Url> url = parse_url(text);
  if (!url) refuse("it is no URL");
  const bool is_known = url->scheme == "https" || (!policy.require_https && url->scheme == "http");
  if (!is_known) refuse("scheme '" + url->scheme + "' not allowed");
  if (!may_reach(url->host, policy)) refuse("it is on the server's own machine or network");
}

}  // namespace clew::server
