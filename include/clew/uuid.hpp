// A Uuid is 16 bytes with a text form. Clew uses them for checkpoints (time
// ordered, version 6) and for ids derived from names (version 5).
//
//   Uuid id = Uuid::parse("1ef4f797-8335-6428-8001-8a1503f9b875");
//   Uuid derived = uuid5(id, "__input__");
//   std::cout << derived.to_string() << '\n';
//
// A Uuid is a plain value. Its order is the order of its bytes, which is also
// the order of its text.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace clew {

class Uuid {
 public:
  using Bytes = std::array<std::uint8_t, 16>;

  static constexpr std::size_t kTextSize = 36;

  // The nil UUID: all zero.
  constexpr Uuid() noexcept = default;

  constexpr explicit Uuid(const Bytes& bytes) noexcept : bytes_(bytes) {}

  // Reads "1ef4f797-8335-6428-8001-8a1503f9b875" or its 32 digits without
  // dashes, in upper or lower case. Version and variant may be anything: task
  // ids and ids written by LangGraph for JavaScript do not follow the standard.
  // Throws ValueError.
  static Uuid parse(std::string_view text);

  constexpr const Bytes& bytes() const noexcept { return bytes_; }

  // Lower case, with dashes.
  std::string to_string() const;

  // Lower case, 32 digits.
  std::string hex() const;

  friend constexpr bool operator==(const Uuid&, const Uuid&) noexcept = default;
  friend constexpr std::strong_ordering operator<=>(const Uuid&, const Uuid&) noexcept = default;

 private:
  Bytes bytes_{};
};

// The version 5 UUID of `name` within `name_space`.
Uuid uuid5(const Uuid& name_space, std::string_view name);

// A random UUID, of version 4. For ids, not for secrets.
Uuid uuid4();

// Unix time in nanoseconds as a UUID counts time: 100 ns ticks since the
// Gregorian calendar began in 1582.
constexpr std::uint64_t uuid_ticks(std::int64_t unix_ns) noexcept {
  constexpr std::int64_t kUnixEpoch = 0x01B21DD213814000;
  const std::int64_t floor = unix_ns / 100 - (unix_ns % 100 < 0 ? 1 : 0);
  return static_cast<std::uint64_t>(floor + kUnixEpoch);
}

// The version 6 UUID of a time in ticks. Only the low 48 bits of `node` and the
// low 14 bits of `clock_seq` are used.
constexpr Uuid uuid6(std::uint64_t ticks, std::uint64_t node, std::int64_t clock_seq) noexcept {
  const std::uint64_t high = ((ticks >> 12) << 16) | 0x6000 | (ticks & 0x0FFF);
  const std::uint64_t sequence = static_cast<std::uint64_t>(clock_seq) & 0x3FFF;
  const std::uint64_t low =
      (std::uint64_t{1} << 63) | (sequence << 48) | (node & 0x0000'FFFF'FFFF'FFFF);
  Uuid::Bytes bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    bytes[i + 8] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  return Uuid(bytes);
}

// The same, from Unix time in nanoseconds.
constexpr Uuid uuid6_from(std::int64_t unix_ns, std::uint64_t node,
                          std::int64_t clock_seq) noexcept {
  return uuid6(uuid_ticks(unix_ns), node, clock_seq);
}

}  // namespace clew

template <>
struct std::hash<clew::Uuid> {
  std::size_t operator()(const clew::Uuid& uuid) const noexcept {
    // Version 6 ids made in a row differ in few bits of the first half, so the
    // halves are mixed rather than one of them taken.
    std::uint64_t high;
    std::uint64_t low;
    std::memcpy(&high, uuid.bytes().data(), 8);
    std::memcpy(&low, uuid.bytes().data() + 8, 8);
    std::uint64_t mixed = (high ^ (low >> 32) ^ (low << 32)) * 0x9E3779B97F4A7C15;
    return static_cast<std::size_t>(mixed ^ (mixed >> 29));
  }
};
