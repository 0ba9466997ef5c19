// How records become columns: JSON text, encrypted if there is a cipher.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <clew/cipher.hpp>

#include "server/records.hpp"

namespace clew::server::sqlite {

// An entry of some metadata, in the form in which it is looked up.
struct Label {
  std::string key;
  std::string value;

  friend bool operator==(const Label&, const Label&) = default;
};

class Codec {
 public:
  // With a cipher labels are digests under `secret`.
  Codec(std::shared_ptr<const Cipher> cipher, std::string secret)
      : cipher_(std::move(cipher)), secret_(std::move(secret)) {}

  std::string encode(const Value& value) const;
  Value decode(std::string_view stored) const;

  // The same for text that is JSON already.
  std::string seal(std::string_view text) const;
  std::string open(std::string_view stored) const;

  // Of the entries that are texts, numbers or booleans and not long.
  std::vector<Label> labels(const Value& metadata) const;

 private:
  std::shared_ptr<const Cipher> cipher_;
  std::string secret_;
};

inline std::int64_t micros(Time time) { return time.time_since_epoch().count(); }
inline Time time_of(std::int64_t micros) { return Time(std::chrono::microseconds(micros)); }
std::optional<std::int64_t> micros(const std::optional<Time>& time);

}  // namespace clew::server::sqlite
