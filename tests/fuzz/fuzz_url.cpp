// Reads arbitrary bytes as a request target. What is refused must be refused by
// HttpError 400; what is accepted is UTF-8 without NUL, finds at most one route, and
// reads the same when its pieces are encoded again.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/http_router.hpp"
#include "server/http_url.hpp"
#include "value/utf8.hpp"

namespace {

using namespace clew::server;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

void require_clean(std::string_view text) {
  require(text.find('\0') == std::string_view::npos, "no NUL");
  require(clew::internal::find_invalid_utf8(text) == std::string_view::npos, "UTF-8");
}

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    char escape[4];
    std::snprintf(escape, sizeof escape, "%%%02x", static_cast<unsigned char>(c));
    out += escape;
  }
  return out;
}

Router routes() {
  const Handler nothing = [](Request&) { return Response{}; };
  Router router;
  router.add("GET", "/", nothing);
  router.add("GET", "/a/{b}", nothing);
  router.add("GET", "/a/{b}/c/{d}", nothing);
  router.add("GET", "/a/x/c", nothing);
  return router;
}

void check_target(const Target& target) {
  static const Router router = routes();
  require(target.path.starts_with('/'), "a path begins with a slash");
  const Router::Match match = router.find("GET", target.path, false);
  for (const auto& [name, value] : match.path_parameters) {
    require(!value.empty(), "a parameter is not empty");
    require_clean(value);
  }
  require(match.redirect.empty() || !match.redirect.starts_with("//"), "redirects stay here");

  std::string again;
  for (const auto& [name, value] : parse_query(target.query)) {
    require_clean(name);
    require_clean(value);
    again += encoded(name) + "=" + encoded(value) + "&";
  }
  std::string twice;
  for (const auto& [name, value] : parse_query(again)) {
    twice += encoded(name) + "=" + encoded(value) + "&";
  }
  require(again == twice, "a query reads the same when it is encoded again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check_target(split_target(text));
  } catch (const HttpError& error) {
    require(error.status() == 400, "what is malformed is a 400");
  }
  return 0;
}
