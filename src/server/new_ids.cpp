#include "server/new_ids.hpp"

#include <atomic>
#include <chrono>

#include <clew/uuid.hpp>

#include "server/service_error.hpp"
#include "value/random.hpp"

namespace clew::server {
namespace {

Uuid uuid_of(std::uint64_t high, std::uint64_t low, std::uint64_t version) {
  high = (high & ~std::uint64_t{0xF000}) | (version << 12);
  low = (low & ~(std::uint64_t{3} << 62)) | (std::uint64_t{1} << 63);
  Uuid::Bytes bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    bytes[i + 8] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  return Uuid(bytes);
}

// Milliseconds and a count within them, as one number that never repeats.
std::uint64_t next_tick() {
  using std::chrono::milliseconds;
  static std::atomic<std::uint64_t> last{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<milliseconds>(now).count();
  const std::uint64_t wanted = static_cast<std::uint64_t>(ms) << 12;
  std::uint64_t before = last.load(std::memory_order_relaxed);
  std::uint64_t tick = 0;
  do {
    tick = before < wanted ? wanted : before + 1;
  } while (!last.compare_exchange_weak(before, tick, std::memory_order_relaxed));
  return tick;
}

}  // namespace

std::string new_uuid7() {
  const std::uint64_t tick = next_tick();
  const std::uint64_t high = ((tick >> 12) << 16) | (tick & 0xFFF);
  return uuid_of(high, internal::random_bits(), 7).to_string();
}

std::string new_uuid4() {
  return uuid_of(internal::random_bits(), internal::random_bits(), 4).to_string();
}

bool is_uuid(std::string_view text) {
  try {
    Uuid::parse(text);
    return true;
  } catch (const ValueError&) {
    return false;
  }
}

std::string checked_uuid(std::string_view text, std::string_view what) {
  try {
    return Uuid::parse(text).to_string();
  } catch (const ValueError&) {
    throw ServiceError(422, "Invalid " + std::string(what) + " ID: must be a UUID");
  }
}

}  // namespace clew::server
