#include <chrono>

#include <clew/json.hpp>
#include <clew/time.hpp>

#include "server/http_server.hpp"

namespace clew::server {

std::string access_log_line(const AccessRecord& record) {
  const double duration_ms = static_cast<double>(record.duration.count()) / 1000;
  return to_json(Value{{"time", format_time(std::chrono::system_clock::now())},
                       {"level", "info"},
                       {"message", "request"},
                       {"request_id", record.request.id},
                       {"method", record.request.method},
                       {"path", record.request.path},
                       {"route", record.route},
                       {"status", record.status},
                       {"bytes_sent", record.bytes_sent},
                       {"duration_ms", duration_ms},
                       {"remote_address", record.request.remote_address}});
}

}  // namespace clew::server
